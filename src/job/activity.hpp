// What one rank does now: for the heartbeat, the watchdog, and messages about failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace ccl_tests {

// Written by the rank's thread, read by others. Thread-safe.
class Activity {
 public:
  // Off the clock. A phase of the start: "connecting the library under test".
  void phase(std::string what);
  // Off the clock. A row: "all_reduce float sum, 8388608 B, in place, timed calls".
  void row(std::string what);
  // Returns what was said last.
  std::string text() const;
  // Returns that, and the beats since it was said first.
  std::pair<std::string, std::uint64_t> text_and_beats() const;
  // Returns the seconds since row() was called; 0 before the first row.
  double seconds_in_row() const;

  // From now on the rank beats at least every limit_s seconds; 0: nothing is expected of it.
  void expect(double limit_s) {
    beat();
    limit_s_.store(limit_s, std::memory_order_release);
  }
  // On the clock: a load and a store.
  void beat() {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }
  double limit_s() const { return limit_s_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::string row_, phase_ = "starting";
  double since_ = 0;
  std::uint64_t first_beat_ = 0;  // of what text() says
  std::atomic<std::uint64_t> beats_ = 0;
  std::atomic<double> limit_s_ = 0;
};

// Expects beats of a rank while it lives.
class Expected {
 public:
  Expected(Activity& activity, double limit_s) : activity_(activity) { activity_.expect(limit_s); }
  ~Expected() { activity_.expect(0); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

 private:
  Activity& activity_;
};

}  // namespace ccl_tests
