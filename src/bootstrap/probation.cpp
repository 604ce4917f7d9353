#include "src/bootstrap/probation.hpp"

#include <fmt/format.h>

#include <utility>

namespace ccl_tests {

Probation::Place Probation::add(Dismiss dismiss) {
  const Place place =
      entries_.insert(entries_.end(), {deadline_in(limits_.limit_s), std::move(dismiss)});
  watch();
  if (entries_.size() > limits_.most) dismiss_oldest("too many connections say nothing");
  return place;
}

bool Probation::dismiss_oldest(const std::string& why) {
  if (entries_.empty()) return false;
  const Dismiss dismiss = std::move(entries_.front().dismiss);
  entries_.pop_front();
  dismiss(why);
  return true;
}

void Probation::watch() {
  if (watching_ || entries_.empty()) return;
  watching_ = true;
  timer_.expires_at(entries_.front().until);
  timer_.async_wait([this](std::error_code error) {
    if (error) return;
    watching_ = false;
    const auto now = std::chrono::steady_clock::now();
    while (!entries_.empty() && entries_.front().until <= now) {
      dismiss_oldest(fmt::format("nothing complete came within {:g} s", limits_.limit_s));
    }
    watch();
  });
}

}  // namespace ccl_tests
