// A rank that has nothing to do while others are measured.
#pragma once

#include <algorithm>

#include "src/core/clock.hpp"
#include "src/run/operation_workload.hpp"

namespace ccl_tests {

// Makes its empty calls, and is silent until the others are probably done.
class IdleWorkload : public Workload {
 public:
  // Both must outlive it. calls: of a problem that this rank does not take part in.
  IdleWorkload(OperationWorkload& calls, Clock& clock) : calls_(calls), clock_(clock) {}
  Samples make(const SingleCalls& plan) override { return calls_.make(plan); }
  void prepare(const BlockPlan& plan) override {
    expected_s_ = plan.expected_s;
    calls_.prepare(plan);
  }
  void issue(std::size_t first, std::size_t calls) override { calls_.issue(first, calls); }
  void begin() override {
    start_ = clock_.now();
    calls_.begin();
  }
  void wait() override { calls_.wait(); }
  void verify() override {
    calls_.verify();
    clock_.sleep_for(std::max(0.0, expected_s_ - (clock_.now() - start_)));
  }

 private:
  OperationWorkload& calls_;
  Clock& clock_;
  double expected_s_ = 0, start_ = 0;
};

}  // namespace ccl_tests
