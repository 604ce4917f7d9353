// One rank's membership in a fake communicator.
#pragma once

#include <nccl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_gpu/nccl_segment.hpp"

namespace fake_gpu {

// op: nccl.h's, or ncclNumOps for PreMulSum, whose scalar is of the operation's type.
struct Reduction {
  int op = ncclSum;
  std::uint64_t scalar = 0;             // its bits
  const void* device_scalar = nullptr;  // or where they lie
  ncclDataType_t type = ncclInt8;       // of the scalar
};

// One operation of this rank.
struct Request {
  Kind kind = Kind::all_reduce;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;  // as nccl.h counts it
  ncclDataType_t type = ncclInt8;
  int root = 0;  // or peer
  Reduction reduction;

  bool message() const { return kind == Kind::send || kind == Kind::recv; }
};

// "<rank>:<number>" of an environment variable: that rank's operation, counted from 1 in each
// communicator.
struct Fault {
  int rank = -1;
  std::uint64_t number = 0;
};

class Profiler;

class Communicator {
 public:
  Communicator(int device, bool blocking);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_; }
  bool blocking() const { return blocking_; }

  // Names this rank's place before join, which meets the other ranks.
  void place(std::string segment, int rank, int ranks);
  ncclResult_t join();
  // At its first operation, as NCCL since 2.22: FAKE_NCCL_MEMORY bytes of the device.
  ncclResult_t take_memory();
  // The group that this rank belongs to, for the child to join; color -1: none.
  struct Part {
    std::string segment;
    int rank = 0, ranks = 0;
  };
  std::optional<Part> split(int color, int key);

  // Set while a job of the API (init, split) works on this communicator.
  std::atomic<bool> busy = false;
  std::atomic<bool> finalized = false;

  // The communicator's state: ncclInProgress, an asynchronous error, or ncclSuccess. May launch
  // what was deferred.
  ncclResult_t poll();
  ncclResult_t error() const;
  std::string message() const;
  void fail(ncclResult_t error, const std::string& message);

  // Ends the operations that run or wait on streams.
  void abort();
  // Waits for what was enqueued outside graphs.
  void drain();
  // Not yet what a poll found it to be.
  bool in_progress() const;

  // On a stream's thread. Messages proceed together.
  void run(const Request& collective);
  void run(const std::vector<Request>& messages);

  std::optional<Reduction> reduction(ncclRedOp_t op, ncclDataType_t type) const;
  ncclRedOp_t add_reduction(const Reduction& reduction);
  bool remove_reduction(ncclRedOp_t op);

  // What the first operation of a non-blocking communicator is: ncclInProgress, launched by a later
  // poll.
  bool defers() { return !blocking_ && !std::exchange(launched_, true); }
  void defer(std::function<ncclResult_t()> launch);

  // Tells the profiler's plugin of what is launched together, where there is one.
  void tell(const std::vector<Request>& requests);
  void end_profile();

  std::atomic<int> enqueued = 0;     // operations that no graph holds and that have not ended
  cudaEvent_t last_event = nullptr;  // after the latest operation outside graphs
  cudaStream_t last_stream = nullptr;

 private:
  friend class Running;
  using Condition = std::function<bool()>;

  // False when the communicator was aborted first.
  bool wait_until(const Condition& condition);
  void hang();
  // False: the operations are not to be done.
  bool begin(std::uint64_t operations);
  void check_devices();
  void enable_peers();
  std::string disagreement(std::uint64_t step) const;
  bool compute(const Request& request, std::byte* result);
  bool read(int from, std::size_t offset, void* to, std::size_t bytes);
  bool reduce(const Request& request, std::size_t first, std::byte* result);
  void corrupt(std::uint64_t operation, void* result, std::size_t bytes) const;
  struct Message;
  bool advance(Message& message);
  void fail_all(ncclResult_t error, const std::string& message);
  ncclResult_t own_error() const;

  const int device_;
  const bool blocking_;
  bool took_memory_ = false;
  void* memory_ = nullptr;
  int rank_ = 0, ranks_ = 1;
  std::string name_;
  std::unique_ptr<Segment> segment_;
  std::unique_ptr<Profiler> profiler_;
  std::mutex turn_;  // one operation at a time, also of graphs on several streams
  Fault failing_, hanging_, corrupting_;
  std::atomic<bool> aborted_ = false;
  std::atomic<int> running_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t splits_ = 0;
  std::vector<std::uint64_t> sent_, received_;  // per peer

  mutable std::mutex mutex_;  // of what follows
  ncclResult_t error_ = ncclSuccess;
  std::string message_;
  std::vector<std::optional<Reduction>> reductions_;
  bool launched_ = false;
  int polls_left_ = 0;
  std::function<ncclResult_t()> deferred_;
};

std::size_t bytes_of(ncclDataType_t type);

}  // namespace fake_gpu
