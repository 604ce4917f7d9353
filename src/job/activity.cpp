#include "src/job/activity.hpp"

#include <utility>

#include "src/core/clock.hpp"

namespace ccl_tests {

void Activity::row(std::string what) {
  said_(what);
  const std::lock_guard lock(mutex_);
  if (row_ != what) first_beat_ = (beats() + 1) & ~std::uint64_t{1};
  row_ = std::move(what);
  phase_.clear();
  since_ = monotonic_seconds();
}

void Activity::phase(std::string what) {
  said_(what);
  const std::lock_guard lock(mutex_);
  phase_ = std::move(what);
  row_.clear();
}

std::string Activity::text() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? phase_ : row_;
}

Doing Activity::doing(int rank) const {
  const std::lock_guard lock(mutex_);
  if (row_.empty()) return {rank, 0, phase_};
  const std::uint64_t now = beats();
  return {rank, now > first_beat_ ? now - first_beat_ : 0, row_};
}

double Activity::seconds_in_row() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? 0 : monotonic_seconds() - since_;
}

}  // namespace ccl_tests
