// One call of a benchmark row: one operation of the library under test, or several.
#pragma once

#include <functional>

#include "src/core/call.hpp"

namespace ccl_tests {

class Communicator;

// The time of the steps of a composite operation: seconds of the communicator's clock on one
// rank, summed over calls.
struct StepTimes {
  double sizes_s = 0;    // collectives that tell how long the others' data are
  double payload_s = 0;  // collectives that carry the data
  double packing_s = 0;  // copies, padding, sorting, files: what this rank does alone
  double total_s() const { return sizes_s + payload_s + packing_s; }
};

// One rank's end of an operation, for calls of one shape. It keeps from call to call what a program
// would keep: buffers, groups, lists.
class Operation {
 public:
  virtual ~Operation() = default;

  // Issues one call. Collective over the ranks of the row. Communicator::wait() completes the call.
  virtual void run(const Call& call) = 0;

  // Checks that all ranks pass the same arguments. Collective over the ranks of the row, outside
  // the clock. Throws Error, on every rank, that names the ranks that differ.
  virtual void check() {}

  // Limits each exchange over the control channel to `limit_s` seconds, in check() and in run().
  virtual void set_exchange_limit(double /*limit_s*/) {}

  // Returns the time of the steps of all calls so far.
  virtual StepTimes times() const { return {}; }
};

// An operation that is one call of the library under test. issue: a member of Communicator, or a
// function of a communicator and a call.
template <auto issue>
class LibraryCall : public Operation {
 public:
  explicit LibraryCall(Communicator& communicator) : communicator_(communicator) {}
  void run(const Call& call) override { std::invoke(issue, communicator_, call); }

 private:
  Communicator& communicator_;
};

}  // namespace ccl_tests
