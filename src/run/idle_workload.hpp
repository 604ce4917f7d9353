// A rank that has nothing to do while others are measured.
#pragma once

#include <algorithm>
#include <functional>

#include "src/core/clock.hpp"
#include "src/run/operation_workload.hpp"

namespace ccl_tests {

// Makes its empty calls, and is silent until the others are probably done.
class IdleWorkload : public Workload {
 public:
  // All must outlive it. calls: of a problem that this rank does not take part in. meet: what the others'
  // workload calls when it is prepared.
  IdleWorkload(OperationWorkload& calls, Clock& clock, const std::function<void()>& meet)
      : calls_(calls), clock_(clock), meet_(meet) {}
  Samples make(const SingleCalls& plan) override { return calls_.make(plan); }
  void prepare(const BlockPlan& plan) override {
    expected_s_ = plan.expected_s;
    calls_.prepare(plan);
    meet_();
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
  const std::function<void()>& meet_;
  double expected_s_ = 0, start_ = 0;
};

}  // namespace ccl_tests
