#include "src/job/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/core/thread.hpp"

namespace ccl_tests {

Watchdog::Watchdog(const Activity& activity, std::function<void(double)> on_stuck)
    : activity_(activity),
      on_stuck_(std::move(on_stuck)),
      thread_(start_thread([this] { watch(); })) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  std::uint64_t seen = activity_.beats();
  Clock::time_point since = Clock::now();
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    const double limit_s = activity_.limit_s();
    const double nap_s = limit_s > 0 ? std::clamp(limit_s / 10, 0.01, 1.0) : 1.0;
    if (wake_.wait_for(lock, std::chrono::duration<double>(nap_s), [this] { return leaving_; }))
      return;
    const std::uint64_t beats = activity_.beats();
    const Clock::time_point now = Clock::now();
    if (beats != seen || activity_.limit_s() <= 0) {
      seen = beats;
      since = now;
      continue;
    }
    const double stuck_s = std::chrono::duration<double>(now - since).count();
    if (stuck_s < activity_.limit_s()) continue;
    lock.unlock();
    on_stuck_(stuck_s);
    return;
  }
}

}  // namespace ccl_tests
