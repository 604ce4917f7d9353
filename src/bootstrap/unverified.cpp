#include "src/bootstrap/unverified.hpp"

#include <fmt/format.h>

#include <utility>

namespace ccl_tests {

UnverifiedConnections::Place UnverifiedConnections::add(Close close) {
  const Place place =
      entries_.insert(entries_.end(), {deadline_in(limits_.limit_s), std::move(close)});
  watch();
  if (entries_.size() > limits_.most) close_oldest("too many connections say nothing");
  return place;
}

bool UnverifiedConnections::close_oldest(const std::string& why) {
  if (entries_.empty()) return false;
  const Close close = std::move(entries_.front().close);
  entries_.pop_front();
  close(why);
  return true;
}

void UnverifiedConnections::watch() {
  if (watching_ || entries_.empty()) return;
  watching_ = true;
  timer_.expires_at(entries_.front().until);
  timer_.async_wait([this](std::error_code error) {
    if (error) return;
    watching_ = false;
    const auto now = std::chrono::steady_clock::now();
    while (!entries_.empty() && entries_.front().until <= now) {
      close_oldest(fmt::format("nothing complete came within {:g} s", limits_.limit_s));
    }
    watch();
  });
}

}  // namespace ccl_tests
