// When a wait gives up.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace ccl_tests {

using TimePoint = std::chrono::steady_clock::time_point;

inline std::chrono::nanoseconds seconds_to_duration(double seconds) {
  constexpr double ten_years = 3e8;  // keeps the sum with now() within 64 bits
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, ten_years)));
}

inline TimePoint deadline_in(double seconds) {
  return std::chrono::steady_clock::now() + seconds_to_duration(seconds);
}

// Takes a limit of 0 or less for none, as Communicator::set_time_limit does.
inline TimePoint deadline_of_limit(double limit_s) {
  return deadline_in(limit_s > 0 ? limit_s : 3e8);
}

// The end of one wait: a time limit, and whether the communicator has been aborted. Time counts from
// the first check.
class Deadline {
 public:
  // A wait may take `limit_s` seconds and one second for each MB of `bytes`. No limit if limit_s is
  // 0 or less. `aborted` outlives the deadline; null: cannot be aborted.
  explicit Deadline(double limit_s, std::size_t bytes = 0,
                    const std::atomic<bool>* aborted = nullptr)
      : limit_s_(limit_s > 0 ? limit_s + static_cast<double>(bytes) / 1e6 : 0), aborted_(aborted) {}

  // Throws Error if the communicator has been aborted, Timeout if the limit has passed. what: whose
  // wait it is, "shm: waiting for rank 3". Call it between two looks at what is waited for.
  void check(std::string_view what);

  bool aborted() const { return aborted_ != nullptr && aborted_->load(std::memory_order_relaxed); }
  bool expired();                              // the limit has passed since the first call
  double limit_s() const { return limit_s_; }  // 0: no limit

  // Returns the whole limit, for libraries that wait by themselves. No limit: about three years.
  std::chrono::milliseconds limit() const;

 private:
  double limit_s_;
  const std::atomic<bool>* aborted_;
  TimePoint end_ = {};  // unset until the first check
};

}  // namespace ccl_tests
