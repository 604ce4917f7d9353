// Operations made of several collectives, with what they keep from call to call.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests {

// How long the steps of a composite take: seconds of the communicator's clock on one rank, summed
// over calls.
struct StepTimes {
  double sizes_s = 0;    // collectives that tell how long the others' data are
  double payload_s = 0;  // collectives that carry the data
  double packing_s = 0;  // copies, padding, sorting, files: what this rank does alone
  double total_s() const { return sizes_s + payload_s + packing_s; }
};

// One rank's end of a composite for calls of one shape.
class Composite {
 public:
  virtual ~Composite() = default;
  // Of one meeting of the ranks beside the library, in check() and where run() has any.
  virtual void set_exchange_limit(double limit_s) = 0;
  // Collective, outside the clock: do all ranks mean the same? Throws Error, on every rank, that
  // names who differs.
  virtual void check() = 0;
  // Collective. Complete when it returns.
  virtual void run(const Call& call) = 0;
  // Of all calls so far.
  virtual StepTimes times() const = 0;
};

}  // namespace ccl_tests
