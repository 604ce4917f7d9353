#include "src/job/failure_box.hpp"

#include <chrono>
#include <utility>

namespace ccl_tests {

void FailureBox::expect() {
  const std::lock_guard lock(mutex_);
  expected_ = true;
}

void FailureBox::put(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

Failure FailureBox::value() const {
  const std::lock_guard lock(mutex_);
  return failure_.value_or(Failure{});
}

bool FailureBox::wait_for_end(int ranks) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || (finished_ >= ranks && !expected_); });
  return failure_.has_value();
}

bool FailureBox::wait_for_ranks(int ranks, double limit_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(limit_s),
                           [&] { return finished_ >= ranks; });
}

void FailureBox::finished() {
  const std::lock_guard lock(mutex_);
  ++finished_;
  changed_.notify_all();
}

}  // namespace ccl_tests
