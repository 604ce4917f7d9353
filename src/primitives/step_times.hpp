// How long the steps of the composite primitives take.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl::primitives {

// Seconds of the communicator's clock on this rank, summed over calls.
struct StepTimes {
  double sizes_s = 0;    // collectives that tell how long the others' data are
  double payload_s = 0;  // collectives that carry the data
  double packing_s = 0;  // copies, padding, sorting, files: what this rank does alone
  double total_s() const { return sizes_s + payload_s + packing_s; }
};

// Each call gives the time since the one before it, or since the object was made, to a step.
class StepClock {
 public:
  StepClock(const Communicator& communicator, StepTimes& times)
      : communicator_(communicator), times_(times), last_s_(communicator.now()) {}
  void sizes() { lap(times_.sizes_s); }
  void payload() { lap(times_.payload_s); }
  void packing() { lap(times_.packing_s); }

 private:
  void lap(double& step_s) {
    const double now_s = communicator_.now();
    step_s += now_s - last_s_;
    last_s_ = now_s;
  }
  const Communicator& communicator_;
  StepTimes& times_;
  double last_s_;
};

}  // namespace ccl::primitives
