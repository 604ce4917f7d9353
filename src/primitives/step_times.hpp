// How long the steps of the composite primitives take.
#pragma once

#include "src/core/operation.hpp"

namespace ccl_tests::primitives {

// Each call gives the time since the one before it, or since the object was made, to a step.
class StepClock {
 public:
  StepClock(Communicator& communicator, StepTimes& times)
      : communicator_(communicator), times_(times), last_s_(communicator.clock().now()) {}
  void sizes() { lap(times_.sizes_s); }
  void payload() { lap(times_.payload_s); }
  void packing() { lap(times_.packing_s); }

 private:
  void lap(double& step_s) {
    const double now_s = communicator_.clock().now();
    step_s += now_s - last_s_;
    last_s_ = now_s;
  }
  Communicator& communicator_;
  StepTimes& times_;
  double last_s_;
};

}  // namespace ccl_tests::primitives
