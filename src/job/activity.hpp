// The work of one rank now, for the heartbeat, messages about failures, and the watchdog, which ends a wait inside a
// library that has no time limit of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "src/bootstrap/rank_status.hpp"

namespace ccl_tests {

// Written by the rank's thread, read by others. Thread-safe.
class Activity {
 public:
  // Before anybody else knows it: has `said` told what phase() and row() are.
  void tell(std::function<void(const std::string&)> said) { said_ = std::move(said); }

  // Off the clock. A phase of the start: "connecting the library under test".
  void phase(std::string what);
  // Off the clock. A row: "all_reduce float sum, 8388608 B, in place, timed calls".
  void row(std::string what);
  // Returns what was said last.
  std::string text() const;
  // Returns that, and where the rank is in it.
  RankStatus status(int rank) const;
  // Returns the seconds since row() was called; 0 before the first row.
  double seconds_in_row() const;

  // From now on the rank beats at least every limit_s seconds; 0: nothing is expected of it.
  void expect(double limit_s) {
    leave();
    limit_s_.store(limit_s, std::memory_order_release);
  }
  // As expect(0), but a rank that an exception has ended stays where it was.
  void expect_nothing() { limit_s_.store(0, std::memory_order_release); }
  // A load and a store each.
  void enter() { set_beats((beats() + 1) | 1); }
  void leave() { set_beats((beats() | 1) + 1); }
  // Odd inside the library.
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }
  double limit_s() const { return limit_s_.load(std::memory_order_acquire); }

 private:
  void set_beats(std::uint64_t beats) { beats_.store(beats, std::memory_order_relaxed); }

  std::function<void(const std::string&)> said_ = [](const std::string& /*what*/) {};
  mutable std::mutex mutex_;
  std::string row_, phase_ = "starting";
  double since_ = 0;
  std::uint64_t first_beat_ = 0;  // of the row; even
  std::atomic<std::uint64_t> beats_ = 0;
  std::atomic<double> limit_s_ = 0;
};

// Expects beats of a rank while it lives.
class Expected {
 public:
  Expected(Activity& activity, double limit_s) : activity_(activity) { activity_.expect(limit_s); }
  ~Expected() { activity_.expect_nothing(); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

 private:
  Activity& activity_;
};

// Makes a call of the library under test, or waits for its calls. On the clock. If it throws, the rank still
// counts as inside: the message about it names the call.
template <class F>
void inside_library(Activity& activity, const F& call) {
  activity.enter();
  call();
  activity.leave();
}

// Tells the user what runs while a row takes long. On a terminal a status line that is wiped before it
// is replaced, otherwise a line every 10 s into `path`, or stderr if `path` is empty. Only process 0
// has one. Has a thread of its own from begin() on.
class Heartbeat {
 public:
  // Silent until begin(). Throws UsageError if the file cannot be written.
  Heartbeat(const Activity& activity, const std::string& program, const std::string& path);
  ~Heartbeat();

  void begin();
  // Wipes the status line, so that a row can be printed.
  void clear();
  // Returns why a line of the file is lost; empty: none is.
  std::string lost() const;

 private:
  void beat(const std::stop_token& stop);
  void show(const std::string& text);
  void wipe();  // under the mutex

  const Activity& activity_;
  std::string program_;
  std::FILE* out_;
  bool terminal_;
  bool shown_ = false;  // a status line is on the terminal
  std::string lost_;
  mutable std::mutex mutex_;
  std::jthread thread_;
};

// Returns what is said of a rank that the watchdog found stuck.
std::string stuck_text(double stuck_s);

// Returns a thread that watches one rank until it is stopped: it looks once a second, or ten times
// within a short limit. Calls on_stuck(seconds without a beat) at most once, on that thread.
[[nodiscard]] std::jthread start_watchdog(const Activity& activity,
                                          std::function<void(double)> on_stuck);

}  // namespace ccl_tests
