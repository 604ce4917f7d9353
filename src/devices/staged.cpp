#include "src/devices/staged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
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

constexpr std::size_t aligned = 256;  // as cudaMalloc

std::size_t rounded(std::size_t bytes) { return (bytes + aligned - 1) / aligned * aligned; }

// Returns room for one operation of up to so many bytes a buffer, before the ranks begin
// operations: taking memory of a GPU waits for its peers, which wait for this rank. Empty if there
// is too little; then pieces are taken when they are needed.
Buffer room_for(Device& side, std::size_t bytes) {
  constexpr std::size_t gaps = 4096 * aligned;  // of messages to and from 2048 peers
  try {
    return side.allocate(2 * bytes + gaps);
  } catch (const Error&) {
    return {};
  }
}

class Staged : public ForwardingCommunicator {
 public:
  Staged(std::unique_ptr<Communicator> library, Memory memory, Device& library_side, Device& gpu,
         Buffer room)
      : ForwardingCommunicator(*library),
        library_(std::move(library)),
        capabilities_(staged_capabilities(library_->capabilities(), memory)),
        side_(library_side),
        gpu_(gpu),
        room_(std::move(room)) {}

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    std::vector<Message> staged(messages.begin(), messages.end());
    for (Message& m : staged) {
      std::byte* const own = scratch(m.bytes.size());
      if (m.sends() && !m.bytes.empty()) gpu_.copy(own, m.bytes.data(), m.bytes.size());
      if (!m.sends()) deliveries_.push_back({m.bytes, own});
      m.bytes = {own, m.bytes.size()};
    }
    library_->transfer(staged, deadline);
    wait();
  }

  void reserve(std::size_t bytes) override {
    reserved_ = bytes;
    room_ = {};
    room_ = room_for(side_, bytes);
    library_->reserve(bytes);
  }

  // Completes the library's operations and delivers their results.
  void wait() override {
    library_->wait();
    for (const Delivery& d : deliveries_)
      if (!d.to.empty()) gpu_.copy(d.to.data(), d.from, d.to.size());
    deliveries_.clear();
    used_ = used_room_ = 0;
  }
  void fence() override {}  // all is complete
  const Capabilities& capabilities() const override { return capabilities_; }
  GpuExtension* gpu() override { return nullptr; }  // it would be of the library's buffers
  std::unique_ptr<Communicator> split(int color, int key) override {
    Buffer room = room_for(side_, reserved_);
    auto part = library_->split(color, key);
    if (!part) return nullptr;
    return std::make_unique<Staged>(std::move(part), capabilities_.memory, side_, gpu_,
                                    std::move(room));
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    issue(operation, call);
    wait();
  }
  std::unique_ptr<Work> start(OperationId operation, const Call& call) override {
    issue(operation, call);
    return issued(*this);
  }

 private:
  // The end of an operation's result, and where it goes.
  struct Delivery {
    std::span<std::byte> to;
    const std::byte* from;
  };

  void issue(OperationId operation, const Call& call) {
    const auto send = call.send_bytes(operation);
    const auto recv = call.recv_bytes(operation);
    // An operation under way has no end before all ranks have begun it, which they do in one order.
    if (fits(0, send.size(), recv.size()) && !fits(used_room_, send.size(), recv.size())) wait();
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

  bool fits(std::size_t used, std::size_t input, std::size_t result) const {
    return used + rounded(input) + rounded(result) <= room_.size();
  }

  // Pieces of the operations that are under way; kept for the next ones.
  std::byte* scratch(std::size_t bytes) {
    if (fits(used_room_, bytes, 0)) {
      std::byte* const data = room_.data() + used_room_;
      used_room_ += rounded(bytes);
      return data;
    }
    if (used_ == pieces_.size()) pieces_.emplace_back();
    Buffer& piece = pieces_[used_++];
    if (piece.size() < bytes || piece.data() == nullptr)
      piece = side_.allocate(std::max(aligned, bytes));
    return piece.data();
  }

  std::unique_ptr<Communicator> library_;
  Capabilities capabilities_;
  Device& side_;
  Device& gpu_;
  std::size_t reserved_ = 0;
  Buffer room_;
  std::size_t used_room_ = 0;
  std::vector<Buffer> pieces_;  // what has no room there
  std::size_t used_ = 0;
  std::vector<Delivery> deliveries_;
};

class OnHostMemory : public Backend {
 public:
  OnHostMemory(const Backend& library, Device& gpu) : library_(library), gpu_(gpu) {}
  BackendInfo info() const override {
    BackendInfo result = library_.info();
    result.scratch_factor = 1.0;
    result.taken_later = std::size_t{0};  // from the GPU, where buffers do not lie
    result.memories = {Memory::host};
    return result;
  }
  void check(const BackendOptions& options) const override { library_.check(options); }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    BackendOptions on_gpu = options;
    on_gpu.device = &gpu_;
    return stage([&] { return library_.connect(channel, on_gpu); }, Memory::host, gpu_, gpu_);
  }

 private:
  const Backend& library_;
  Device& gpu_;
};

}  // namespace

std::unique_ptr<Communicator> stage(const Connect& library, Memory memory, Device& library_side,
                                    Device& gpu) {
  Buffer room = room_for(library_side, 0);
  return std::make_unique<Staged>(library(), memory, library_side, gpu, std::move(room));
}

std::unique_ptr<Backend> on_host_memory(const Backend& library, Device& gpu) {
  return std::make_unique<OnHostMemory>(library, gpu);
}

}  // namespace ccl_tests
