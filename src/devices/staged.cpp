#include "src/devices/staged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests {
namespace {

Capabilities staged_capabilities(const Capabilities& library, Memory memory) {
  Capabilities result = library;
  result.memory = memory;
  result.description.push_back(
      fmt::format("buffers in {} memory, staged: every operation is a copy there, the library's "
                  "operation on {} memory, and a copy back",
                  name(memory), name(library.memory)));
  return result;
}

class Staged : public ForwardingCommunicator {
 public:
  Staged(std::unique_ptr<Communicator> library, Memory memory, Device& library_side, Device& gpu)
      : ForwardingCommunicator(*library),
        library_(std::move(library)),
        capabilities_(staged_capabilities(library_->capabilities(), memory)),
        side_(library_side),
        gpu_(gpu) {}

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    std::vector<Message> staged(messages.begin(), messages.end());
    for (Message& m : staged) {
      std::byte* const own = scratch(m.bytes.size());
      if (m.sends() && !m.bytes.empty()) gpu_.copy(own, m.bytes.data(), m.bytes.size());
      if (!m.sends()) deliveries_.push_back({m.bytes, own});
      m.bytes = {own, m.bytes.size()};
    }
    library_->transfer(staged, deadline);
    deliver();
  }

  std::unique_ptr<Work> start_all_reduce(const Call& c) override {
    return start(OperationId::all_reduce, c);
  }
  std::unique_ptr<Work> start_broadcast(const Call& c) override {
    return start(OperationId::broadcast, c);
  }

  void fence() override {}  // all is complete
  const Capabilities& capabilities() const override { return capabilities_; }
  GpuExtension* gpu() override { return nullptr; }  // it would be of the library's buffers
  std::unique_ptr<Communicator> split(int color, int key) override {
    auto part = library_->split(color, key);
    if (!part) return nullptr;
    return std::make_unique<Staged>(std::move(part), capabilities_.memory, side_, gpu_);
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    issue(operation, call);
    deliver();
  }

 private:
  // What end of an operation's result goes where.
  struct Delivery {
    std::span<std::byte> to;
    const std::byte* from;
  };

  class Started : public Work {
   public:
    explicit Started(Staged& communicator) : communicator_(communicator) {}
    void wait() override { communicator_.deliver(); }

   private:
    Staged& communicator_;
  };

  std::unique_ptr<Work> start(OperationId operation, const Call& call) {
    issue(operation, call);
    return std::make_unique<Started>(*this);
  }

  void issue(OperationId operation, const Call& call) {
    const auto send = call.send_bytes(operation);
    const auto recv = call.recv_bytes(operation);
    Call staged = call;
    std::byte* const input = scratch(send.size());
    staged.send = input;
    if (!send.empty()) gpu_.copy(input, send.data(), send.size());
    std::byte* const result = scratch(recv.size());
    staged.recv = result;
    // Blocks may have gaps between them, which stay as they are.
    if (!call.recv_counts.empty() && !recv.empty()) gpu_.copy(result, recv.data(), recv.size());
    ForwardingCommunicator::perform(operation, staged);
    if (!recv.empty()) deliveries_.push_back({recv, result});
  }

  void deliver() {
    library_->wait();
    for (const Delivery& d : deliveries_)
      if (!d.to.empty()) gpu_.copy(d.to.data(), d.from, d.to.size());
    deliveries_.clear();
    used_ = 0;
  }

  // Pieces of the operations that are under way; kept for the next ones.
  std::byte* scratch(std::size_t bytes) {
    if (used_ == pieces_.size()) pieces_.emplace_back();
    Buffer& piece = pieces_[used_++];
    if (piece.size() < bytes || piece.data() == nullptr)
      piece = side_.allocate(std::max<std::size_t>(256, bytes));
    return piece.data();
  }

  std::unique_ptr<Communicator> library_;
  Capabilities capabilities_;
  Device& side_;
  Device& gpu_;
  std::vector<Buffer> pieces_;
  std::size_t used_ = 0;
  std::vector<Delivery> deliveries_;
};

class OnHostMemory : public Backend {
 public:
  OnHostMemory(const Backend& library, Device& gpu) : library_(library), gpu_(gpu) {}
  BackendInfo info() const override {
    BackendInfo result = library_.info();
    result.scratch_factor = 1.0;
    result.memories = {Memory::host};
    return result;
  }
  void check(const BackendOptions& options) const override { library_.check(options); }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    BackendOptions on_gpu = options;
    on_gpu.device = &gpu_;
    return stage(library_.connect(channel, on_gpu), Memory::host, gpu_, gpu_);
  }

 private:
  const Backend& library_;
  Device& gpu_;
};

}  // namespace

std::unique_ptr<Communicator> stage(std::unique_ptr<Communicator> library, Memory memory,
                                    Device& library_side, Device& gpu) {
  return std::make_unique<Staged>(std::move(library), memory, library_side, gpu);
}

std::unique_ptr<Backend> on_host_memory(const Backend& library, Device& gpu) {
  return std::make_unique<OnHostMemory>(library, gpu);
}

}  // namespace ccl_tests
