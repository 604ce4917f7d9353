#include "src/core/deadline.hpp"

#include <fmt/format.h>

#include "src/core/error.hpp"

namespace ccl_tests {

bool Deadline::expired() {
  if (limit_s_ <= 0) return false;
  const TimePoint now = std::chrono::steady_clock::now();
  if (end_ == TimePoint{}) end_ = now + limit();
  return now >= end_;
}

void Deadline::check(std::string_view what) {
  if (aborted()) throw Error(fmt::format("{}: given up, as the job ends", what));
  if (expired()) throw Timeout(fmt::format("{}: no end after {:.3g} s (-T)", what, limit_s_));
}

std::chrono::milliseconds Deadline::limit() const {
  constexpr double never_s = 1e8;
  const double seconds = limit_s_ > 0 ? std::min(limit_s_, never_s) : never_s;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace ccl_tests
