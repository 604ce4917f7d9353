#include "src/backends/nccl/communicator.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstring>
#include <map>
#include <utility>

#include "src/backends/nccl/api.hpp"
#include "src/backends/nccl/profiler.hpp"
#include "src/backends/nccl/stream.hpp"

namespace ccl_tests::nccl_module {
namespace {

// A buffer that NCCL knows of (-R): ncclCommRegister's or ncclCommWindowRegister's handle of a
// buffer. `comm` is null once it has been aborted.
class Registered : public Registration {
 public:
  Registered(const ncclComm_t& comm, std::byte* data, std::size_t bytes, bool symmetric)
      : comm_(comm) {
    if (symmetric) {
      check(api().window(comm, data, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
            "registering a symmetric window", comm);
      if (window_ == nullptr)
        throw Unsupported(
            "-R 2: NCCL gives no symmetric window here (its ranks are not all connected for it)");
    } else {
      check(api().reg(comm, data, bytes, &handle_), "registering a buffer", comm);
    }
  }
  ~Registered() override {
    if (comm_ == nullptr) return;
    if (window_ != nullptr) api().close_window(comm_, window_);
    if (handle_ != nullptr) api().unreg(comm_, handle_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  const ncclComm_t& comm_;
  void* handle_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

// Returns a rank's scalar of mulsum, as `type`, for ncclRedOpCreatePreMulSum.
std::uint64_t mulsum_bits(DataType type, int rank) {
  return with_type(type, [&]<class T>() {
    T scalar{};
    if constexpr (is_float<T>) {
      scalar = from_double<T>(mulsum_scalar(rank));
    } else {
      scalar = static_cast<T>(mulsum_scalar(rank));
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &scalar, sizeof scalar);  // little endian
    return bits;
  });
}

class NcclCommunicator : public Communicator, public GpuExtension {
 public:
  NcclCommunicator(ncclComm_t comm, const Setup& setup, Token token)
      : comm_(comm),
        setup_(setup),
        capabilities_(capabilities_of(setup)),
        stream_(setup.options.null_stream),
        token_(std::move(token)) {
    if (setup.options.show_algorithm) told_.emplace(token_.get());
  }
  ~NcclCommunicator() override {
    cudaSetDevice(setup_.device);  // it may be another thread that closes
    if (aborted()) give_up();
    if (comm_ != nullptr) {
      for (const auto& [type, op] : mulsums_) api().destroy_op(op, comm_);
      api().destroy(comm_);
    }
  }

  void all_reduce(const Call& c) override {
    issued(c, c.count);
    done(api().all_reduce(c.send, c.recv, c.count, type(c), op(c), comm_, stream()), "all_reduce");
  }
  void reduce(const Call& c) override {
    issued(c, c.count);
    done(api().reduce(c.send, c.recv, c.count, type(c), op(c), c.root, comm_, stream()), "reduce");
  }
  void broadcast(const Call& c) override {
    issued(c, c.count);
    done(api().broadcast(c.send, c.recv, c.count, type(c), c.root, comm_, stream()), "broadcast");
  }
  void all_gather(const Call& c) override {
    issued(c, c.count * ranks());
    done(api().all_gather(c.send, c.recv, c.count, type(c), comm_, stream()), "all_gather");
  }
  void reduce_scatter(const Call& c) override {
    issued(c, c.count * ranks());
    done(api().reduce_scatter(c.send, c.recv, c.count, type(c), op(c), comm_, stream()),
         "reduce_scatter");
  }
  void alltoall(const Call& c) override {
    if (api().alltoall == nullptr) return Communicator::alltoall(c);
    issued(c, c.count * ranks());
    done(api().alltoall(c.send, c.recv, c.count, type(c), comm_, stream()), "alltoall");
  }
  void gather(const Call& c) override {
    if (api().gather == nullptr) return Communicator::gather(c);
    issued(c, c.count * ranks());
    done(api().gather(c.send, c.recv, c.count, type(c), c.root, comm_, stream()), "gather");
  }
  void scatter(const Call& c) override {
    if (api().scatter == nullptr) return Communicator::scatter(c);
    issued(c, c.count * ranks());
    done(api().scatter(c.send, c.recv, c.count, type(c), c.root, comm_, stream()), "scatter");
  }
  // One reduction for each block, as one group.
  void reduce_scatterv(const Call& c) override {
    issued(c, sum_of(c.send_counts));
    const Group group(*this);
    for (int r = 0; r < setup_.ranks; ++r) {
      const auto block = static_cast<std::size_t>(r);
      const auto* const send =
          static_cast<const std::byte*>(c.send) + c.send_offsets[block] * size_of(c.type);
      if (c.send_counts[block] == 0) continue;
      done(api().reduce(send, r == setup_.rank ? c.recv : nullptr, c.send_counts[block], type(c),
                        op(c), r, comm_, stream()),
           "reduce");
    }
  }
  void barrier(const Call& /*c*/) override {
    barriers_asked_ = true;
    issue_barrier();
  }
  void issue_barrier() {
    int* const token = token_.get();
    done(api().all_reduce(token, token, 1, ncclInt32, ncclSum, comm_, stream()), "barrier");
  }
  void transfer(std::span<Message> messages, Deadline& /*deadline*/) override {
    issued_bytes_ += static_cast<double>(bytes_of(messages));
    const Group group(*this);
    for (const Message& m : messages) {
      if (m.bytes.empty()) continue;
      if (m.sends())
        done(api().send(m.bytes.data(), m.count(), nccl_type(m.type), m.peer, comm_, stream()),
             "send");
      else
        done(api().recv(m.bytes.data(), m.count(), nccl_type(m.type), m.peer, comm_, stream()),
             "recv");
    }
  }

  GpuExtension* gpu() override { return this; }
  void begin_aggregate() override { done(api().group_start(), "beginning a group"); }
  void end_aggregate() override { done(api().group_end(), "ending a group"); }
  void fence() override {}  // the stream does

  // Polled, so that errors that NCCL meets on its own threads end the wait.
  void wait() override {
    Deadline end = deadline(static_cast<std::size_t>(issued_bytes_ * static_cast<double>(ranks())));
    while (!stream_.idle()) {
      give_up_if_failed(end);
      sched_yield();
    }
    issued_bytes_ = 0;
  }
  void timing_barrier(const GroupRank& /*self*/) override {
    issue_barrier();
    wait();
  }

  const Capabilities& capabilities() const override { return capabilities_; }

  std::unique_ptr<Timeline> timeline(std::size_t marks) override {
    return make_timeline(stream_, marks);
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& issue) override {
    const double before = issued_bytes_;
    auto graph = nccl_module::capture(stream_, issue, [this] { issued_bytes_ += graph_bytes_; });
    graph_bytes_ = issued_bytes_ - before;
    issued_bytes_ = before;
    return graph;
  }
  Buffer allocate(std::size_t bytes) override {
    if (api().mem_alloc == nullptr || bytes == 0) return {};
    void* data = nullptr;
    check(api().mem_alloc(&data, bytes), "ncclMemAlloc", comm_);
    return {static_cast<std::byte*>(data), bytes, [](std::byte* p) { api().mem_free(p); }};
  }
  std::unique_ptr<Registration> register_buffer(std::byte* data, std::size_t bytes) override {
    if (setup_.options.local_register == 0) return nullptr;
    return std::make_unique<Registered>(comm_, data, bytes, setup_.options.local_register == 2);
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    if (api().split == nullptr) return nullptr;
    Token token = make_token();
    ncclComm_t part = nullptr;
    ncclConfig_t config = config_of(setup_);
    check(api().split(comm_, color < 0 ? NCCL_SPLIT_NOCOLOR : color, key, &part, &config),
          "ncclCommSplit", comm_);
    if (part == nullptr) return nullptr;
    Setup setup = setup_;
    check(api().count(part, &setup.ranks), "the ranks of a group", part);
    check(api().user_rank(part, &setup.rank), "the rank in a group", part);
    return make_communicator(part, setup, std::move(token));
  }

  void annotate(const std::string& row) override { row_.begin(row); }

  std::string last_algorithm() override {
    const bool barriers = std::exchange(barriers_asked_, false);
    return told_ ? told_->take(barriers) : std::string();
  }

  // abort() is seen by the rank's thread in wait(); one that is inside NCCL does not come back.

 private:
  // Sends and receives that proceed together.
  class Group {
   public:
    explicit Group(NcclCommunicator& communicator) : communicator_(communicator) {
      communicator_.begin_aggregate();
    }
    ~Group() noexcept(false) {
      if (std::uncaught_exceptions() == exceptions_) {
        communicator_.end_aggregate();
      } else {  // an open group would delay for ever what gives the communicator up
        static_cast<void>(api().group_end());
      }
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    NcclCommunicator& communicator_;
    int exceptions_ = std::uncaught_exceptions();
  };

  cudaStream_t stream() const { return stream_.get(); }
  std::size_t ranks() const { return static_cast<std::size_t>(setup_.ranks); }
  static ncclDataType_t type(const Call& c) { return nccl_type(c.type); }

  ncclRedOp_t op(const Call& c) {
    if (const auto known = nccl_op(c.op)) return *known;
    if (c.op != ReduceOp::mulsum) throw Unsupported(fmt::format("NCCL has no {}", name(c.op)));
    const auto found = mulsums_.find(c.type);
    if (found != mulsums_.end()) return found->second;
    std::uint64_t scalar = mulsum_bits(c.type, setup_.rank);
    ncclRedOp_t made{};
    check(api().create_pre_mul_sum(&made, &scalar, type(c), ncclScalarHostImmediate, comm_),
          "ncclRedOpCreatePreMulSum", comm_);
    return mulsums_[c.type] = made;
  }

  void issued(const Call& c, std::size_t elements) {
    issued_bytes_ += static_cast<double>(elements) * static_cast<double>(size_of(c.type));
  }
  void done(ncclResult_t result, const char* what) const { check(result, what, comm_); }

  // Ends the operations under way, before anybody waits for the stream to free what they use.
  void give_up() {
    if (comm_ != nullptr) api().abort(comm_);
    comm_ = nullptr;
  }

  void give_up_if_failed(Deadline& end) {
    if (comm_ == nullptr) throw Error("NCCL: the communicator has been given up");
    if (end.aborted()) {
      give_up();
      throw Error("NCCL: operations given up, as the job ends");
    }
    ncclResult_t error = ncclSuccess;
    check(api().async_error(comm_, &error), "asking for errors", comm_);
    if (error != ncclSuccess && error != ncclInProgress) {
      const std::string what = error_text(error, "an operation under way", comm_);
      give_up();
      throw Error(what);
    }
    if (!end.expired()) return;
    const std::string known = ras_report();
    give_up();
    throw Timeout(fmt::format("NCCL: operations of {:.0f} B are not complete after {:.0f} s (-T){}",
                              issued_bytes_, end.limit_s(), known));
  }

  ncclComm_t comm_;
  Setup setup_;
  Capabilities capabilities_;
  Stream stream_;
  Token token_;
  std::optional<Listener> told_;
  bool barriers_asked_ = false;  // since last_algorithm() was called
  std::map<DataType, ncclRedOp_t> mulsums_;
  ProfilerRange row_;
  double issued_bytes_ = 0;  // since the last wait
  double graph_bytes_ = 0;   // of one launch
};

}  // namespace

ncclConfig_t config_of(const Setup& setup) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  config.nvlinkCentricSched = 1;  // as nccl-tests; of use from compute capability 10 on
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 0)
  if (setup.options.peers > 0)
    config.maxP2pPeers = setup.options.peers;  // as nccl-tests; of use on several hosts
#endif
  if (setup.options.cta_policy >= 0) config.CTAPolicy = setup.options.cta_policy;
  return config;
}

Token make_token() {
  int* data = nullptr;
  check(cudaMalloc(&data, sizeof(int)), "memory of a barrier");
  Token token(data, &cudaFree);
  check(cudaMemset(data, 0, sizeof(int)), "memory of a barrier");
  return token;
}

std::unique_ptr<Communicator> make_communicator(ncclComm_t comm, const Setup& setup, Token token) {
  auto communicator = std::make_unique<NcclCommunicator>(comm, setup, std::move(token));
  if (setup.options.show_algorithm)
    communicator->timing_barrier({});  // by its token the profiler knows it
  return communicator;
}

}  // namespace ccl_tests::nccl_module
