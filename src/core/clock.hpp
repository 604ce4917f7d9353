// The time that a rank's operations take, by whatever clock counts there.
#pragma once

namespace ccl_tests {

// CLOCK_MONOTONIC of this machine. A simulator's communicators have a clock of their own.
class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since an arbitrary moment.
  virtual double now() const;
  // Lets `seconds` of this clock pass on the calling rank.
  virtual void sleep_for(double seconds);
};

// CLOCK_MONOTONIC in seconds.
double monotonic_seconds();

}  // namespace ccl_tests
