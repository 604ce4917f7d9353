// Estimates the time of one call from the stamps of a stream, how sure it is, and what makes it
// doubtful. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ccl_tests {

// Seconds per call. The interval covers the value with 95 % confidence if the noise stays what it was
// while the stamps were taken.
struct Estimate {
  double value = 0;          // by the Statistic that was asked for
  double low = 0, high = 0;  // of the interval; both 0: too few stamps for one
  double mean = 0;           // of the stream: nccl-tests' number
  double median = 0;         // of the stamps
  double fast = 0;           // the 10th percentile of the stamps
  double slow = 0;           // the 90th
  std::size_t stamps = 0;

  bool has_interval() const { return high > 0; }
  // Half of the interval's width over the value; nullopt without an interval.
  std::optional<double> half_width() const {
    if (!has_interval() || value <= 0) return std::nullopt;
    return (high - low) / 2 / value;
  }
  // Two speeds of the machine or the library, not one with noise.
  bool bimodal() const { return slow > 2 * fast; }
};

// The number of a stream that is its time. median: for operations whose ranks wait for each other.
// mean: for operations whose root runs ahead, so that single stamps show its queue. fast: the 10th
// percentile, for ranks that wait for CPUs, whose medians show the scheduler.
enum class Statistic { median, mean, fast };

// Returns the number of independent values that tell as much as these: n (1 - r) / (1 + r), r being
// the correlation of the ranks of neighbours (Spearman's), corrected by 1 / n for its bias. At least
// 1; equal to values.size() below 12 values or without correlation.
double effective_size(std::span<const double> values);

// Returns the estimate of values in the order in which they were taken. Its interval needs 6 values.
// That of a quantile p comes from order statistics and assumes no distribution: the ranks n p -+ 1.96
// n sqrt(p (1 - p) / effective size), as the binomial distribution has them. Of fewer than 36 values
// nothing is surely below the 10th percentile, and the interval begins with the smallest. The mean's
// comes from the means of ten batches and Student's t.
Estimate estimate(std::span<const double> stamps, Statistic statistic);

// Returns whether the intervals of the first and of the last third of the stamps do not touch.
bool drifts(std::span<const double> stamps, Statistic statistic);

// Returns whether calls wait for the kernel's tick: at least 3 of 10 stamps, and 6 of them, last a
// multiple (1 to 4) of tick_s, within 3 % of a tick. stamps: seconds of a call, calls_per_stamp of
// which a stamp has. False if tick_s is 0. By chance a stamp of up to 4 ticks is one in 6 of 100.
bool waits_for_tick(std::span<const double> stamps, std::size_t calls_per_stamp, double tick_s);

// The events that met the processes of a row's ranks while they were timed.

// Events of one or more processes. steal_s: CPU time that a hypervisor gave to other machines.
struct Evidence {
  std::uint64_t minor_faults = 0;  // page faults without input or output
  std::uint64_t major_faults = 0;  // that waited for a disk
  std::uint64_t yielded = 0;       // voluntary context switches: waiting for something
  std::uint64_t preempted = 0;     // involuntary ones
  double steal_s = 0;

  Evidence& operator+=(const Evidence& other);
};
// Returns what happened between two readings of counters that only grow.
Evidence operator-(const Evidence& later, const Evidence& earlier);

// The timed part of a stream that the events belong to.
struct TimedPart {
  std::size_t stamps = 0;
  double seconds = 0;     // of one rank
  std::size_t ranks = 1;  // whose events were counted
};

// Returns true if page faults are part of the time: a major one, or more than 16 minor ones that are
// also more than one for every ten stamps.
bool has_page_faults(const Evidence& events, const TimedPart& part);

// Returns true if the ranks did not have their CPUs: involuntary context switches for more than a
// tenth of the stamps and more than 5 in a second, or has_steal().
bool has_noise(const Evidence& events, const TimedPart& part);

// Returns true if a hypervisor took more than 1 % of all ranks' seconds.
bool has_steal(const Evidence& events, const TimedPart& part);

}  // namespace ccl_tests
