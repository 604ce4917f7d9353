#include "src/job/activity.hpp"

#include <utility>

#include "src/core/clock.hpp"

namespace ccl_tests {

void Activity::row(std::string what) {
  const std::lock_guard lock(mutex_);
  if (row_ != what) first_beat_ = beats();
  row_ = std::move(what);
  phase_.clear();
  since_ = monotonic_seconds();
}

void Activity::phase(std::string what) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(what);
  row_.clear();
  first_beat_ = beats();
}

std::string Activity::text() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? phase_ : row_;
}

std::pair<std::string, std::uint64_t> Activity::text_and_beats() const {
  const std::lock_guard lock(mutex_);
  return {row_.empty() ? phase_ : row_, beats() - first_beat_};
}

double Activity::seconds_in_row() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? 0 : monotonic_seconds() - since_;
}

}  // namespace ccl_tests
