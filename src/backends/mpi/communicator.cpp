#include "src/backends/mpi/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "src/backends/mpi/messages.hpp"
#include "src/core/composed.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::mpi_module {
namespace {

class Comm {
 public:
  explicit Comm(MPI_Comm comm) : comm_(comm) {
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &ranks), "MPI_Comm_size");
  }
  ~Comm() {
    if (!abandoned_) MPI_Comm_free(&comm_);
  }
  operator MPI_Comm() const { return comm_; }
  // Freeing is collective: not after a failure.
  void abandon() { abandoned_ = true; }

  int rank = 0, ranks = 1;

 private:
  MPI_Comm comm_;
  std::atomic<bool> abandoned_ = false;
};

#ifdef SMPI_H
// The simulator's clock.
class SimulatedClock : public Clock {
 public:
  double now() const override { return MPI_Wtime(); }
};
#endif

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, Device* device, std::size_t most)
      : comm_(comm),
        device_(device),
        most_(most),
        capabilities_(capabilities_on(device, most)),
        messages_(comm_, datatypes_, most),
        vectors_(comm_, datatypes_, most) {}

  void all_reduce(const Call& call) override {
    if (call.count <= most_ && !is_composed(call.op)) {  // nearly every call: nothing around MPI's
      check(MPI_Allreduce(call.send == call.recv ? MPI_IN_PLACE : call.send, call.recv,
                          static_cast<int>(call.count), type(call), op(call), comm_),
            "MPI_Allreduce");
      return;
    }
    all_reduce_in_pieces(call);
  }

  void reduce(const Call& call) override {
    const void* const send = premultiplied(call, call.count, call.recv);
    reduce_to(call, call.root, send, call.recv);
    if (is_root(call)) divided(call, call.recv, call.count);
  }

  // MPI's has one buffer: out of place the root's output is a copy.
  void broadcast(const Call& call) override {
    const Block block = blocks(call, call.count);
    if (is_root(call) && call.send != call.recv)
      copy(call.recv, call.send, call.count * size_of(call.type));
    check(call_counted(block.large(), MPI_Bcast, MPI_Bcast_c, call.recv, block.units(),
                       block.type(), call.root, comm_),
          "MPI_Bcast");
  }

  void all_gather(const Call& call) override {
    const Block block = blocks(call, call.count);
    check(call_counted(block.large(), MPI_Allgather, MPI_Allgather_c,
                       call.send == own_block(call, call.recv) ? MPI_IN_PLACE : call.send,
                       block.units(), block.type(), call.recv, block.units(), block.type(), comm_),
          "MPI_Allgather");
  }

  // In place, MPI leaves the result at the buffer's begin; ours lies in this rank's block.
  void reduce_scatter(const Call& call) override {
    const std::size_t bytes = call.count * size_of(call.type);
    auto* const base = const_cast<void*>(call.send);
    const bool in_place = call.recv == own_block(call, base);
    const void* send = call.send;
    if (call.op == ReduceOp::mulsum) {
      const std::size_t all = call.count * ranks();
      send = premultiplied(call, all, in_place ? base : room(all * size_of(call.type)));
    }
    const bool beyond = call.count > most_ || call.count * ranks() >= 2 * most_;
    if (beyond && !has_large_counts()) {
      for (int r = 0; r < comm_.ranks; ++r)
        reduce_to(call, r, at(call, send, static_cast<std::size_t>(r) * call.count), call.recv);
    } else if (in_place) {
      check(call_counted(beyond, MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, MPI_IN_PLACE,
                         base, Count{call.count}, type(call), op(call), comm_),
            "MPI_Reduce_scatter_block");
      if (comm_.rank > 0 && bytes > 0) copy(call.recv, base, bytes);
    } else {
      check(call_counted(beyond, MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, send,
                         call.recv, Count{call.count}, type(call), op(call), comm_),
            "MPI_Reduce_scatter_block");
    }
    divided(call, call.recv, call.count);
  }

  void alltoall(const Call& call) override {
    const Block block = blocks(call, call.count);
    check(call_counted(block.large(), MPI_Alltoall, MPI_Alltoall_c, call.send, block.units(),
                       block.type(), call.recv, block.units(), block.type(), comm_),
          "MPI_Alltoall");
  }

  void alltoallv(const Call& call) override { vectors_.alltoallv(call); }

  void all_gatherv(const Call& call) override {
    if (!vectors_.all_gatherv(call)) composed::all_gatherv(*this, call);
  }

  void gatherv(const Call& call) override {
    if (!vectors_.gatherv(call)) composed::gatherv(*this, call);
  }

  void scatterv(const Call& call) override {
    if (!vectors_.scatterv(call)) composed::scatterv(*this, call);
  }

  void reduce_scatterv(const Call& call) override {
    const auto& counts = call.send_counts;
    auto* const base = const_cast<void*>(call.send);
    const bool in_place = call.recv == at(call, base, call.send_offsets[rank()]);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const void* send = call.send;
    if (call.op == ReduceOp::mulsum)
      send = premultiplied(call, all, in_place ? base : room(all * size_of(call.type)));
    // Open MPI adds them up in an int.
    const bool beyond = all >= 2 * most_ || vectors_.too_large(counts);
    if (beyond && !has_large_counts()) {
      for (int r = 0; r < comm_.ranks; ++r) {
        Call step = call;
        step.count = counts[static_cast<std::size_t>(r)];
        reduce_to(step, r, at(call, send, call.send_offsets[static_cast<std::size_t>(r)]),
                  call.recv);
      }
    } else {
      const std::size_t bytes = call.count * size_of(call.type);
      void* const result = in_place ? room(bytes) : call.recv;
      vectors_.reduce_scatterv(call, send, result, beyond);
      if (in_place && bytes > 0) copy(call.recv, result, bytes);
    }
    divided(call, call.recv, call.count);
  }

  void gather(const Call& call) override {
    const Block block = blocks(call, call.count);
    const bool in_place = is_root(call) && call.send == own_block(call, call.recv);
    check(call_counted(block.large(), MPI_Gather, MPI_Gather_c, in_place ? MPI_IN_PLACE : call.send,
                       block.units(), block.type(), call.recv, block.units(), block.type(),
                       call.root, comm_),
          "MPI_Gather");
  }

  void scatter(const Call& call) override {
    const Block block = blocks(call, call.count);
    const bool in_place =
        is_root(call) && call.recv == own_block(call, const_cast<void*>(call.send));
    check(call_counted(block.large(), MPI_Scatter, MPI_Scatter_c, call.send, block.units(),
                       block.type(), in_place ? MPI_IN_PLACE : call.recv, block.units(),
                       block.type(), call.root, comm_),
          "MPI_Scatter");
  }

  // MPI_Iallreduce and MPI_Ibcast; in pieces they block.
  std::unique_ptr<Work> start_all_reduce(const Call& call) override {
    const bool large = call.count > most_;
    if (large && !has_large_counts()) return Communicator::start_all_reduce(call);
    const void* const send = premultiplied(call, call.count, call.recv);
    MPI_Request request = MPI_REQUEST_NULL;
    check(call_counted(large, MPI_Iallreduce, MPI_Iallreduce_c,
                       send == call.recv ? MPI_IN_PLACE : send, call.recv, Count{call.count},
                       type(call), op(call), comm_, &request),
          "MPI_Iallreduce");
    return started(request, [call] { divided(call, call.recv, call.count); });
  }

  std::unique_ptr<Work> start_broadcast(const Call& call) override {
    const bool large = call.count > most_;
    if (large && !has_large_counts()) return Communicator::start_broadcast(call);
    if (is_root(call) && call.send != call.recv)
      copy(call.recv, call.send, call.count * size_of(call.type));
    MPI_Request request = MPI_REQUEST_NULL;
    check(call_counted(large, MPI_Ibcast, MPI_Ibcast_c, call.recv, Count{call.count}, type(call),
                       call.root, comm_, &request),
          "MPI_Ibcast");
    return started(request, [] {});
  }

  void barrier(const Call& /*call*/) override { check(MPI_Barrier(comm_), "MPI_Barrier"); }

  void transfer(std::span<Message> messages, Deadline& /*deadline*/) override {
    messages_.transfer(messages);
  }

  void abort() noexcept override {
    Communicator::abort();
    comm_.abandon();
  }
  // set_time_limit has no effect: MPI's waits have no limit, and the watchdog ends the job.

#ifdef SMPI_H
  Clock& clock() override { return simulated_; }
#endif

  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  void copy(void* to, const void* from, std::size_t bytes) const {
    if (device_ != nullptr)
      device_->copy(to, from, bytes);
    else
      std::memcpy(to, from, bytes);
  }
  std::size_t rank() const { return static_cast<std::size_t>(comm_.rank); }
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.ranks); }
  bool is_root(const Call& call) const { return call.root == comm_.rank; }
  MPI_Datatype type(const Call& call) const { return datatypes_.type(call.type); }
  MPI_Op op(const Call& call) const { return datatypes_.op(call.type, call.op); }
  Block blocks(const Call& call, std::size_t count) const {
    return {type(call), size_of(call.type), count, most_};
  }

  static const void* at(const Call& call, const void* buffer, std::size_t element) {
    return static_cast<const std::byte*>(buffer) + element * size_of(call.type);
  }
  static void* at(const Call& call, void* buffer, std::size_t element) {
    return static_cast<std::byte*>(buffer) + element * size_of(call.type);
  }
  void* own_block(const Call& call, void* buffer) const {
    return at(call, buffer, static_cast<std::size_t>(comm_.rank) * call.count);
  }

  // body(first element, number of elements); once for 0 elements, so that MPI is always called, and
  // once if MPI takes large counts.
  template <class F>
  void in_pieces(std::size_t count, F&& body) const {
    const std::size_t most = has_large_counts() ? count : most_;
    std::size_t first = 0;
    do {
      const std::size_t n = std::min(most, count - first);
      body(first, Count{n});
      first += n;
    } while (first < count);
  }

  template <class Finish>
  static std::unique_ptr<Work> started(MPI_Request request, Finish finish) {
    return std::make_unique<Request<Finish>>(request, finish);
  }

  void all_reduce_in_pieces(const Call& call) {
    const void* const send = premultiplied(call, call.count, call.recv);
    in_pieces(call.count, [&](std::size_t first, Count n) {
      check(call_counted(n.value > most_, MPI_Allreduce, MPI_Allreduce_c,
                         send == call.recv ? MPI_IN_PLACE : at(call, send, first),
                         at(call, call.recv, first), n, type(call), op(call), comm_),
            "MPI_Allreduce");
    });
    divided(call, call.recv, call.count);
  }

  void reduce_to(const Call& call, int root, const void* send, void* recv) {
    const bool in_place = comm_.rank == root && send == recv;
    in_pieces(call.count, [&](std::size_t first, Count n) {
      check(call_counted(n.value > most_, MPI_Reduce, MPI_Reduce_c,
                         in_place ? MPI_IN_PLACE : at(call, send, first), at(call, recv, first), n,
                         type(call), op(call), root, comm_),
            "MPI_Reduce");
    });
  }

  void* room(std::size_t bytes) {
    room_.resize(std::max(room_.size(), bytes));
    return room_.data();
  }

  Datatypes datatypes_;
  Comm comm_;
  Device* device_;
  std::size_t most_;
  Capabilities capabilities_;
#ifdef SMPI_H
  SimulatedClock simulated_;
#endif
  Messages messages_;
  VectorCollectives vectors_;
  std::vector<std::byte> room_;  // products of mulsum
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(MPI_Comm comm, Device* device, std::size_t most) {
  return std::make_unique<MpiCommunicator>(comm, device, most);
}

}  // namespace ccl_tests::mpi_module
