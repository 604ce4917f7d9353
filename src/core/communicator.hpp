// One rank's membership in a group, in the library under test.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/clock.hpp"
#include "src/core/deadline.hpp"
#include "src/core/device.hpp"
#include "src/core/error.hpp"
#include "src/core/gpu_extension.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {

// An operation that was started: its buffers are the library's until wait() returns.
class Work {
 public:
  virtual ~Work() = default;
  // Once: returns when the operation is complete on this rank, and throws what it threw.
  virtual void wait() = 0;
};

// All operations are collective but messages, which their two ends make. They may return before the
// data has moved: wait() completes them. In place is what MPI and NCCL mean by it: all_reduce,
// reduce, broadcast: send == recv; all_gather, gather: send is recv + rank * count; reduce_scatter,
// scatter: recv is send + rank * count; of the vector forms the rank's offset stands for rank *
// count. A failing library or peer throws Error, a reached limit Timeout.
//
// A backend implements transfer(). The suite composes from it every operation that a backend does
// not override (core/composed.hpp), and marks the rows.
class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual void all_reduce(const Call& call);
  virtual void reduce(const Call& call);  // recv of other ranks than root: unspecified
  virtual void broadcast(const Call& call);
  virtual void all_gather(const Call& call);
  virtual void reduce_scatter(const Call& call);
  virtual void all_gatherv(const Call& call);
  virtual void reduce_scatterv(const Call& call);
  virtual void alltoall(const Call& call);
  virtual void alltoallv(const Call& call);
  virtual void gather(const Call& call);
  virtual void scatter(const Call& call);
  virtual void gatherv(const Call& call);
  virtual void scatterv(const Call& call);
  virtual void barrier(const Call& call);

  // Makes these messages, all at once: none waits for one behind it. Messages of a pair in one
  // direction match in the order of posting, also over several transfers. There may be none. They
  // may be shortened (Message), and belong to the caller again when this returns.
  virtual void transfer(std::span<Message> messages, Deadline& deadline);

  // Starts an operation that may proceed beside others that were started. All ranks start the same
  // ones in the same order, may wait for them in any, and make no other operation of this
  // communicator before they have waited for all. What a backend does not override has been issued
  // when these return, and nothing proceeds beside it.
  virtual std::unique_ptr<Work> start_all_reduce(const Call& call);
  virtual std::unique_ptr<Work> start_broadcast(const Call& call);

  // Completes everything this rank has issued.
  virtual void wait() {}

  // Lets what is issued after it find the results of what was issued before. A library that keeps
  // to the order of issue does nothing here.
  virtual void fence() { wait(); }

  // Collective: nobody leaves before all have come. For aligning ranks between measurements; what a
  // backend does not override is the suite's own barrier, over messages.
  virtual void timing_barrier(const GroupRank& self);

  // Returns what the library can do here: the same object as long as the communicator lives.
  virtual const Capabilities& capabilities() const;

  // Returns what only libraries on GPUs can do. Null if the library does not work on GPUs.
  virtual GpuExtension* gpu() { return nullptr; }

  // The clock that measures this communicator: CLOCK_MONOTONIC, or a simulator's.
  virtual Clock& clock() { return monotonic_; }

  // Returns a communicator of the ranks that give the same color, in the order of their keys, made
  // by the library. Null if the library has no such function. Collective.
  virtual std::unique_ptr<Communicator> split(int /*color*/, int /*key*/) { return nullptr; }

  // Makes room for operations of up to so many bytes a buffer, as far as there is any, so that no
  // operation has to. Collective.
  virtual void reserve(std::size_t /*bytes*/) {}

  // Makes operations that are under way on other threads of this process fail soon: what is
  // overridden calls this one too. Not collective.
  virtual void abort() noexcept { aborted_ = true; }

  // Sets what deadline() gives: seconds of a wait that moves nothing, 0 for no limit.
  virtual void set_time_limit(double limit_s) { limit_s_ = limit_s; }

  // Point to point: `count` elements to or from rank `peer`, which may be this rank. Between
  // begin_group and end_group they are collected, and transferred together, so that a ring of send
  // + recv cannot deadlock; outside each stands alone. What an exception kept from its end_group
  // is dropped by the next begin_group.
  void send(const Call& call);
  void recv(const Call& call);
  void begin_group();
  void end_group();

  // Returns the end of a wait that moves `bytes`, and that begins now.
  Deadline deadline(std::size_t bytes) const { return Deadline(limit_s_, bytes, &aborted_); }

 protected:
  bool aborted() const { return aborted_; }

 private:
  void post(const Message& message);

  Clock monotonic_;
  std::atomic<bool> aborted_ = false;
  double limit_s_ = 60;
  bool grouped_ = false;
  std::vector<Message> posted_;
};

// Returns work that is complete when the communicator's operations are.
std::unique_ptr<Work> issued(Communicator& communicator);

// An operation of a communicator, as a pointer.
using OperationMember = void (Communicator::*)(const Call&);
// Throws Error for `transfer`, which takes no Call.
OperationMember member(OperationId operation);

// Returns the operations that class C overrides. C overrides them in public, without overloads.
template <class C>
OperationSet overridden() {
  OperationSet set;
  const auto add = [&]<class Member>(OperationId operation, Member) {
    if constexpr (!std::is_same_v<Member, OperationMember>) set.add(operation);
  };
  add(OperationId::all_reduce, &C::all_reduce);
  add(OperationId::reduce, &C::reduce);
  add(OperationId::broadcast, &C::broadcast);
  add(OperationId::all_gather, &C::all_gather);
  add(OperationId::reduce_scatter, &C::reduce_scatter);
  add(OperationId::all_gatherv, &C::all_gatherv);
  add(OperationId::reduce_scatterv, &C::reduce_scatterv);
  add(OperationId::alltoall, &C::alltoall);
  add(OperationId::alltoallv, &C::alltoallv);
  add(OperationId::gather, &C::gather);
  add(OperationId::scatter, &C::scatter);
  add(OperationId::gatherv, &C::gatherv);
  add(OperationId::scatterv, &C::scatterv);
  add(OperationId::barrier, &C::barrier);
  using Transfer = void (Communicator::*)(std::span<Message>, Deadline&);
  if constexpr (!std::is_same_v<decltype(&C::transfer), Transfer>) set.add(OperationId::transfer);
  return set;
}

}  // namespace ccl_tests
