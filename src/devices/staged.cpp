#include "src/devices/staged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ccl_tests {
namespace {

using Operation = void (Communicator::*)(const Call&);

// Elements that an operation reads at Call::send and writes at Call::recv on this rank.
struct Extent {
  std::size_t send, recv;
};

// Of blocks at offsets; where there are no offsets the blocks are adjacent.
std::size_t end_of(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) {
  std::size_t end = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t begin = offsets.empty() ? end : offsets[r];
    if (counts[r] > 0) end = std::max(end, begin + counts[r]);
  }
  return end;
}

class Staged : public Communicator {
 public:
  Staged(std::unique_ptr<Communicator> library, Memory memory, Device& library_side, Device& gpu)
      : library_(std::move(library)), memory_(memory), side_(library_side), gpu_(gpu) {}

  void all_reduce(const Call& c) override { make(c, &Communicator::all_reduce, same(c)); }
  void reduce(const Call& c) override {
    make(c, &Communicator::reduce, {c.count, is_root(c) ? c.count : 0});
  }
  void broadcast(const Call& c) override {
    make(c, &Communicator::broadcast, {is_root(c) ? c.count : 0, c.count});
  }
  void all_gather(const Call& c) override {
    make(c, &Communicator::all_gather, {c.count, c.count * ranks(c)});
  }
  void reduce_scatter(const Call& c) override {
    make(c, &Communicator::reduce_scatter, {c.count * ranks(c), c.count});
  }
  void alltoall(const Call& c) override {
    make(c, &Communicator::alltoall, {c.count * ranks(c), c.count * ranks(c)});
  }
  void gather(const Call& c) override {
    make(c, &Communicator::gather, {c.count, is_root(c) ? c.count * ranks(c) : 0});
  }
  void scatter(const Call& c) override {
    make(c, &Communicator::scatter, {is_root(c) ? c.count * ranks(c) : 0, c.count});
  }
  void all_gatherv(const Call& c) override {
    make(c, &Communicator::all_gatherv, {c.count, end_of(c.recv_counts, c.recv_offsets)});
  }
  void gatherv(const Call& c) override {
    make(c, &Communicator::gatherv,
         {c.count, is_root(c) ? end_of(c.recv_counts, c.recv_offsets) : 0});
  }
  void scatterv(const Call& c) override {
    make(c, &Communicator::scatterv,
         {is_root(c) ? end_of(c.send_counts, c.send_offsets) : 0, c.count});
  }
  void reduce_scatterv(const Call& c) override {
    make(c, &Communicator::reduce_scatterv, {end_of(c.send_counts, c.send_offsets), c.count});
  }
  void alltoallv(const Call& c) override {
    make(c, &Communicator::alltoallv,
         {end_of(c.send_counts, c.send_offsets), end_of(c.recv_counts, c.recv_offsets)});
  }
  void barrier(const Call& c) override {
    library_->barrier(c);
    library_->wait();
  }
  void send(const Call& c) override { make(c, &Communicator::send, {c.count, 0}); }
  void recv(const Call& c) override { make(c, &Communicator::recv, {0, c.count}); }
  void begin_group() override {
    library_->begin_group();
    grouped_ = true;
  }
  void end_group() override {
    library_->end_group();
    grouped_ = false;
    deliver();
  }

  std::unique_ptr<Work> start_all_reduce(const Call& c) override {
    return start(c, &Communicator::all_reduce, same(c));
  }
  std::unique_ptr<Work> start_broadcast(const Call& c) override {
    return start(c, &Communicator::broadcast, {is_root(c) ? c.count : 0, c.count});
  }

  void wait() override { library_->wait(); }
  void fence() override {}  // all is complete
  void timing_barrier(const GroupRank& self) override { library_->timing_barrier(self); }
  Memory memory() const override { return memory_; }
  std::unique_ptr<Communicator> split(int color, int key) override {
    auto part = library_->split(color, key);
    if (!part) return nullptr;
    return std::make_unique<Staged>(std::move(part), memory_, side_, gpu_);
  }
  void begin_row(const std::string& what) override { library_->begin_row(what); }
  double now() const override { return library_->now(); }
  void sleep(double seconds) const override { library_->sleep(seconds); }
  void abort() noexcept override { library_->abort(); }
  bool emulated(ReduceOp op, DataType type) const override { return library_->emulated(op, type); }
  std::optional<std::string> unsupported(DataType type, std::optional<ReduceOp> op) const override {
    return library_->unsupported(type, op);
  }
  bool integers_wrap() const override { return library_->integers_wrap(); }
  void set_time_limit(double limit_s) override { library_->set_time_limit(limit_s); }
  std::string description() const override {
    const std::string own = fmt::format(
        "buffers in {} memory, staged: every operation is a copy there, the library's "
        "operation on {} memory, and a copy back",
        name(memory_), name(library_->memory()));
    const std::string inner = library_->description();
    return inner.empty() ? own : inner + '\n' + own;
  }

 private:
  // What end of an operation's result goes where.
  struct Delivery {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
  };

  static std::size_t ranks(const Call& c) { return static_cast<std::size_t>(c.self.ranks); }
  static bool is_root(const Call& c) { return c.self.rank == c.root; }
  static Extent same(const Call& c) { return {c.count, c.count}; }

  class Started : public Work {
   public:
    explicit Started(Staged& communicator) : communicator_(communicator) {}
    void wait() override { communicator_.deliver(); }

   private:
    Staged& communicator_;
  };

  std::unique_ptr<Work> start(const Call& call, Operation operation, Extent extent) {
    issue(call, operation, extent);
    return std::make_unique<Started>(*this);
  }

  void make(const Call& call, Operation operation, Extent extent) {
    issue(call, operation, extent);
    if (!grouped_) deliver();
  }

  void issue(const Call& call, Operation operation, Extent extent) {
    const std::size_t width = size_of(call.type);
    Call staged = call;
    const std::size_t send = extent.send * width;
    const std::size_t recv = extent.recv * width;
    staged.send = scratch(send);
    if (send > 0) gpu_.copy(const_cast<void*>(staged.send), call.send, send);
    std::byte* const result = scratch(recv);
    staged.recv = result;
    // Blocks may have gaps between them, which stay as they are.
    if (!call.recv_counts.empty() && recv > 0) gpu_.copy(result, call.recv, recv);
    (library_.get()->*operation)(staged);
    if (recv > 0) deliveries_.push_back({static_cast<std::byte*>(call.recv), result, recv});
  }

  void deliver() {
    library_->wait();
    for (const Delivery& d : deliveries_) gpu_.copy(d.to, d.from, d.bytes);
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
  Memory memory_;
  Device& side_;
  Device& gpu_;
  bool grouped_ = false;
  std::vector<Buffer> pieces_;
  std::size_t used_ = 0;
  std::vector<Delivery> deliveries_;
};

class OnHostMemory : public Backend {
 public:
  OnHostMemory(const Backend& library, Device& gpu) : library_(library), gpu_(gpu) {}
  std::string_view name() const override { return library_.name(); }
  std::string version() const override { return library_.version(); }
  std::string library() const override { return library_.library(); }
  std::size_t descriptors_per_rank(int ranks) const override {
    return library_.descriptors_per_rank(ranks);
  }
  int threads_per_rank() const override { return library_.threads_per_rank(); }
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
