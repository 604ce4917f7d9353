#include "src/job/failure_box.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "src/core/error.hpp"

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

Failure explain(Control& control, const Failure& own) {
  const bool timed_out = own.code == exit_code(Exit::timed_out);
  if (!timed_out && own.code != exit_code(Exit::failed)) return own;
  if (control.processes() == 1) return own;
  // A peer that timed out closes its connections at once and is as patient before it says so: who
  // sees only these closed must wait longer, or the shadow is reported before the cause.
  const double patience_s = timed_out ? 2 : 3;
  Failure known = control.wait_failure(patience_s);
  if (known.code == 0) return own;
  if (known.message.ends_with(own.message)) return known;
  known.message = own.message.ends_with(known.message)
                      ? own.message
                      : fmt::format("{} (seen here as: {})", known.message, own.message);
  return known;
}

}  // namespace ccl_tests
