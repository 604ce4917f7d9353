// One rank's membership in a group, in the library under test.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "src/core/device.hpp"
#include "src/core/error.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {

// A rank's membership in a group of ranks. group: the group's number; 0 if all ranks are one group,
// below 0 for a rank that is in no group.
struct GroupRank {
  int rank = 0;
  int ranks = 1;
  int group = 0;
};

// One operation of one rank. Counts and offsets are in elements of `type`. What `count` means is
// each operation's: all_reduce, reduce, broadcast, send, recv: elements of the buffer; all_gather,
// gather, scatter, reduce_scatter, alltoall: elements per rank (one block); the vector collectives:
// of this rank's block. The four spans belong to the vector collectives and have one entry per
// rank: alltoallv takes all four, all_gatherv and gatherv the receiving two, scatterv and
// reduce_scatterv the sending two, on all ranks. all_gatherv, gatherv, scatterv
// and reduce_scatterv have adjacent blocks in rank order, in one buffer.
struct Call {
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;  // one of ops_of(type)
  GroupRank self;               // of the rank that makes the call
  int root = 0;                 // of rooted operations
  std::span<const std::size_t> send_counts, send_offsets, recv_counts, recv_offsets;
  int peer = -1;                       // of send and recv
  std::size_t messages = 1, legs = 1;  // of a paired collective: Layout's
};

// An operation that was started: its buffers are the library's until wait() returns.
class Work {
 public:
  virtual ~Work() = default;
  // Once: returns when the operation is complete on this rank, and throws what it threw.
  virtual void wait() = 0;
};

// Operations that were captured, to be issued together as often as wanted.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch() = 0;  // may return before they are complete
};

// Marks between a communicator's operations.
class Timeline {
 public:
  virtual ~Timeline() = default;
  virtual void mark() = 0;  // behind all that has been issued
  // Seconds from each mark to the next. All operations have been waited for. In a graph: of its
  // last launch.
  virtual std::vector<double> intervals() const = 0;
};

// A buffer that the library knows of, until this is destroyed.
class Registration {
 public:
  virtual ~Registration() = default;
};

// All operations but send and recv are collective. They may return before the data has moved:
// wait() completes them. In place is what MPI and NCCL mean by it: all_reduce, reduce, broadcast:
// send == recv; all_gather, gather: send is recv + rank * count; reduce_scatter, scatter: recv is
// send + rank * count; of the vector forms the rank's offset stands for rank * count. What a
// backend does not implement throws Unsupported; a failing library or
// peer throws Error, a reached limit Timeout.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual void all_reduce(const Call& call) { missing(call, "all_reduce"); }
  virtual void reduce(const Call& call) {
    missing(call, "reduce");
  }  // recv of other ranks than root: unspecified
  virtual void broadcast(const Call& call) { missing(call, "broadcast"); }
  virtual void all_gather(const Call& call) { missing(call, "all_gather"); }
  virtual void reduce_scatter(const Call& call) { missing(call, "reduce_scatter"); }
  virtual void all_gatherv(const Call& call) { missing(call, "all_gatherv"); }
  virtual void reduce_scatterv(const Call& call) { missing(call, "reduce_scatterv"); }
  virtual void alltoall(const Call& call) { missing(call, "alltoall"); }
  virtual void alltoallv(const Call& call) { missing(call, "alltoallv"); }
  virtual void gather(const Call& call) { missing(call, "gather"); }
  virtual void scatter(const Call& call) { missing(call, "scatter"); }
  virtual void gatherv(const Call& call) { missing(call, "gatherv"); }
  virtual void scatterv(const Call& call) { missing(call, "scatterv"); }
  virtual void barrier(const Call& call) { missing(call, "barrier"); }

  // Point to point: `count` elements to or from rank `peer`, which may be this rank. Between
  // begin_group and end_group they are posted together, so that a ring of send + recv cannot
  // deadlock; outside each stands alone.
  virtual void send(const Call& call) { missing(call, "send"); }
  virtual void recv(const Call& call) { missing(call, "recv"); }
  virtual void begin_group() {}
  virtual void end_group() {}

  // Operations between these do not need each other: a library that can issues them as one.
  virtual void begin_aggregate() {}
  virtual void end_aggregate() {}

  // Starts an operation that may proceed beside others that were started. All ranks start the same
  // ones in the same order, may wait for them in any, and make no other operation of this
  // communicator before they have waited for all. What a backend does not override has been issued
  // when these return, and nothing proceeds beside it.
  virtual std::unique_ptr<Work> start_all_reduce(const Call& call) {
    all_reduce(call);
    return std::make_unique<Issued>(*this);
  }
  virtual std::unique_ptr<Work> start_broadcast(const Call& call) {
    broadcast(call);
    return std::make_unique<Issued>(*this);
  }

  // Completes everything this rank has issued.
  virtual void wait() = 0;

  // What is issued behind this finds the results of what was issued before. A library that keeps
  // to the order of issue does nothing here.
  virtual void fence() { wait(); }

  // Collective: nobody leaves before all have come. For aligning ranks between measurements; what a
  // backend does not override is the suite's own barrier, over messages.
  virtual void timing_barrier(const GroupRank& self);

  // Where the operations' buffers lie.
  virtual Memory memory() const { return Memory::host; }

  // Room for `marks` marks. What a backend does not override waits at every mark, and takes now().
  virtual std::unique_ptr<Timeline> timeline(std::size_t marks) {
    return std::make_unique<Waits>(*this, marks);
  }

  // What issue() issues, as a graph; nothing of it runs before launch(). issue() may mark a
  // timeline. Collective where the operations are.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& /*issue*/) {
    throw Unsupported("this backend has no graphs");
  }

  // Memory that the library wants its buffers in; null data: any of the rank's device will do.
  virtual Buffer allocate(std::size_t /*bytes*/) { return {}; }

  // Collective. What the library was asked to do with buffers (BackendOptions); null: nothing.
  virtual std::unique_ptr<Registration> register_buffer(std::byte* /*data*/,
                                                        std::size_t /*bytes*/) {
    return nullptr;
  }

  // A communicator of the ranks that give the same color, in the order of their keys, made by the
  // library; null: it has no such function. Collective.
  virtual std::unique_ptr<Communicator> split(int /*color*/, int /*key*/) { return nullptr; }

  // Seconds of the clock that measures this communicator: CLOCK_MONOTONIC, or a simulator's.
  virtual double now() const {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }

  // Lets so many seconds of that clock pass on this rank.
  virtual void sleep(double seconds) const {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

  // Makes operations that are under way on other threads of this process fail soon. Not collective.
  virtual void abort() noexcept = 0;

  // True when `op` on `type` is composed by this backend from other operations inside the clock
  // (avg = sum, then divide); such rows are marked in the files.
  virtual bool emulated(ReduceOp /*op*/, DataType /*type*/) const { return false; }

  // A row begins, of which profilers are told where the library has one.
  virtual void begin_row(const std::string& /*what*/) {}

  // Why the library has not `op` (empty: data movement) on `type` here; empty: it has.
  virtual std::optional<std::string> unsupported(DataType /*type*/,
                                                 std::optional<ReduceOp> /*op*/) const {
    return std::nullopt;
  }

  // True when sums and products of integers are taken modulo 2^w. MPI leaves overflow open (Open
  // MPI 4.1 saturates 8-bit sums); inputs for such a library stay within the type's range.
  virtual bool integers_wrap() const { return true; }

  // Comment lines of the run's header: transport, algorithms that are the suite's own, ... One line
  // each, without '#'.
  virtual std::string description() const { return {}; }

  // What the library chose for the operations since the last call (algorithm, protocol, ...).
  // Empty: it does not say.
  virtual std::string last_algorithm() { return {}; }

  // Limit of one wait, for an operation that moves `bytes`: limit_s + bytes / (1 MB/s). 0 turns
  // limits off.
  virtual void set_time_limit(double limit_s) = 0;

 private:
  class Waits : public Timeline {
   public:
    Waits(Communicator& communicator, std::size_t marks) : communicator_(communicator) {
      times_.reserve(marks);
    }
    void mark() override {
      communicator_.wait();
      times_.push_back(communicator_.now());
    }
    std::vector<double> intervals() const override {
      std::vector<double> seconds;
      for (std::size_t k = 1; k < times_.size(); ++k) seconds.push_back(times_[k] - times_[k - 1]);
      return seconds;
    }

   private:
    Communicator& communicator_;
    std::vector<double> times_;
  };

  class Issued : public Work {
   public:
    explicit Issued(Communicator& communicator) : communicator_(communicator) {}
    void wait() override { communicator_.wait(); }

   private:
    Communicator& communicator_;
  };

  [[noreturn]] static void missing(const Call& /*call*/, std::string_view operation) {
    throw Unsupported("this backend has no " + std::string(operation));
  }
};

}  // namespace ccl_tests
