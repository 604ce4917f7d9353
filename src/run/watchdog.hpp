// Ends a wait inside a library that has no time limit of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace ccl_tests {

// What one thread shows of itself: written by it, read by the watchdog.
class Pulse {
 public:
  // From now on the thread gives a beat at least every limit_s seconds; 0: nothing is expected.
  void expect(double limit_s) {
    beat();
    limit_s_.store(limit_s, std::memory_order_release);
  }
  void rest() { expect(0); }
  // Costs a load and a store: called around operations that are timed.
  void beat() {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }
  double limit_s() const { return limit_s_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> beats_ = 0;
  std::atomic<double> limit_s_ = 0;
};

// Expects beats while it lives.
class Watched {
 public:
  Watched(Pulse& pulse, double limit_s) : pulse_(pulse) { pulse_.expect(limit_s); }
  ~Watched() { pulse_.rest(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Pulse& pulse_;
};

// Watches one pulse on a thread of its own, which looks once a second, or ten times within a short
// limit.
class Watchdog {
 public:
  // on_stuck(seconds without a beat) is called at most once, on the watchdog's thread.
  Watchdog(const Pulse& pulse, std::function<void(double)> on_stuck);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();

  const Pulse& pulse_;
  std::function<void(double)> on_stuck_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace ccl_tests
