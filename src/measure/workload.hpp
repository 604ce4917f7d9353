// The interface between a clock and the calls that it times.
#pragma once

#include <cstddef>
#include <vector>

#include "src/core/gpu_extension.hpp"

namespace ccl_tests {

// nccl-tests' -z, and stream.
enum class Blocking : int {
  none = 0,             // issue everything, wait once
  barrier_inside = 1,   // wait and barrier after each call, both in the time
  wait = 2,             // wait after each call
  barrier_outside = 3,  // wait and barrier after each sample, the barrier not in the time
  stream = 4  // wait after each sample, unless the device marks its end; that begins the next
};

// A block of calls, one behind the other: `untimed` ones, then `samples` x `calls` timed ones.
struct BlockPlan {
  std::size_t untimed = 0;
  std::size_t samples = 0;
  std::size_t calls = 0;  // of one sample
  Blocking blocking = Blocking::none;
  double expected_s = 0;  // how long the timed calls will probably take; 0: unknown

  std::size_t timed() const { return samples * calls; }
};

// Calls that are made one by one before a block: each on fresh data, each waited for. The results of
// the last `checked` ones are verified.
struct SingleCalls {
  std::size_t calls = 0, checked = 0;
};

// When a part of a block began, when its last call had been issued, when all of it was complete.
// Seconds of one clock.
struct Sample {
  double start = 0, issued = 0, end = 0;
  double seconds() const { return end - start; }
};
using Samples = std::vector<Sample>;

// One rank's calls of one kind. Used by one thread.
class Workload {
 public:
  virtual ~Workload() = default;
  // Makes the single calls and returns a sample of each.
  virtual Samples make(const SingleCalls& plan) = 0;
  // Off the clock: makes buffers ready for the block's calls.
  virtual void prepare(const BlockPlan& plan) = 0;
  // Issues, on the clock, the block's calls [first, first + calls), untimed ones counted. May return
  // before they are complete.
  virtual void issue(std::size_t first, std::size_t calls) = 0;
  // The block's untimed calls are complete, and its clock is about to start.
  virtual void begin() {}
  // The place of a prepared stream where the device itself marks the end of each sample, with room for all of
  // them. Null: each sample is waited for, and its end is read from the clock.
  virtual Timeline* marks() { return nullptr; }
  // Returns when all issued calls are complete on this rank.
  virtual void wait() = 0;
  // Off the clock: verifies what the block left behind.
  virtual void verify() = 0;
};

// Lets the ranks begin together. Collective: nobody leaves before all have come.
class Barrier {
 public:
  virtual ~Barrier() = default;
  virtual void wait() = 0;
};

}  // namespace ccl_tests
