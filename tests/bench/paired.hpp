// Two ways to do the same thing, timed in interleaved pairs whose order alternates, beside the
// second against itself, which is what the machine can resolve.
#pragma once

#include <alloca.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/clock.hpp"

namespace ccl_tests::bench {

struct Ratios {
  std::vector<double> ours, bare;          // per pair: ours / bare, bare / bare
  std::vector<double> added_s, nothing_s;  // per pair: ours - bare, bare - bare
  double bare_s = 0;                       // median
};

// ours, bare: seconds per operation, the same on all ranks.
inline Ratios time_pairs(int pairs, const std::function<double()>& ours,
                         const std::function<double()>& bare) {
  Ratios result;
  std::vector<double> times;
  ours();
  bare();
  for (int pair = 0; pair < pairs; ++pair) {
    const bool ours_first = pair % 2 == 0;
    const double first = ours_first ? ours() : bare();
    const double second = ours_first ? bare() : ours();
    result.ours.push_back(ours_first ? first / second : second / first);
    result.added_s.push_back(ours_first ? first - second : second - first);
    const double a = bare();
    const double b = bare();
    result.bare.push_back(ours_first ? a / b : b / a);
    result.nothing_s.push_back(ours_first ? a - b : b - a);
    times.push_back(b);
  }
  std::sort(times.begin(), times.end());
  result.bare_s = times[times.size() / 2];
  return result;
}

// Median and its distribution-free 95 % interval by order statistics (binomial, normal
// approximation).
struct Interval {
  double median, low, high;
};
inline Interval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto reach = static_cast<std::size_t>(std::floor(n / 2 - 1.96 * std::sqrt(n) / 2));
  return {values[values.size() / 2], values[reach], values[values.size() - 1 - reach]};
}
inline std::string interval(std::vector<double> values, double unit = 1, int digits = 3) {
  const Interval i = interval_of(std::move(values));
  return fmt::format("{1:.{0}f} [{2:.{0}f}, {3:.{0}f}]", digits, i.median / unit, i.low / unit,
                     i.high / unit);
}

inline void print_header(const std::string& what, int pairs) {
  fmt::print("# {}, {} pairs; medians with 95 % intervals\n", what, pairs);
  fmt::print(
      "# ranks     bytes    bare (us)   ours / bare             bare / bare             ours - bare "
      "(ns)    bare - bare (ns)\n");
}

inline void print(int ranks, std::size_t bytes, const Ratios& r) {
  fmt::print("{:5} {:9} {:11.3f}   {}   {}   {:>18}  {:>18}\n", ranks, bytes, r.bare_s * 1e6,
             interval(r.ours), interval(r.bare), interval(r.added_s, 1e-9, 1),
             interval(r.nothing_s, 1e-9, 1));
  std::fflush(stdout);
}

// Seconds per call of `calls` calls behind a barrier, waited for once, as nccl-tests times them.
// issue(k) makes call k.
template <class Issue, class Wait, class Barrier>
double seconds_per_call(int calls, Issue&& issue, Wait&& wait, Barrier&& barrier) {
  barrier();
  const double start = monotonic_seconds();
  for (std::size_t k = 0; k < static_cast<std::size_t>(calls); ++k) issue(k);
  wait();
  return (monotonic_seconds() - start) / calls;
}

// Where the stack happens to lie decides 5 % of a call of 0.2 us: runs f at another place of it
// each time.
template <class F>
double elsewhere_on_stack(std::size_t turn, F&& f) {
  const std::size_t shift = turn * 1040 % 4096;
  volatile char* const pushed = static_cast<volatile char*>(alloca(shift + 1));
  pushed[0] = 0;
  return f();
}

}  // namespace ccl_tests::bench
