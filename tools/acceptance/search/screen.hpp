// Which hosts stand out of the first rounds: suspects, not yet names.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "tools/acceptance/search/limits.hpp"
#include "tools/acceptance/search/measurer.hpp"

namespace ccl_tests::acceptance {

// What a host may be slow at. `both` is the mean of the effects of sending and receiving.
enum class Way { sending, receiving, both };
inline constexpr std::array ways = {Way::sending, Way::receiving, Way::both};

template <class T>
using PerWay = std::array<T, ways.size()>;
constexpr std::size_t index(Way way) { return static_cast<std::size_t>(way); }

// The effects of one way in units of what healthy hosts differ by.
struct Studentised {
  std::vector<double> effect;  // by number of the host; median 0; NaN of hosts not measured
  std::vector<double> z;       // effect / max(standard error, spread, floor)
  double error = 0;            // median standard error
  double spread = 0;           // 1.4826 MAD of the hosts' effects, corrected for few hosts
};

struct Screen {
  PerWay<Studentised> way;
  double sigma = 0;           // of one observation
  std::size_t hosts = 0;      // that were measured
  std::vector<int> suspects;  // ascending
  bool grouped = false;       // hosts differ by more than noise: groups, or drift
  bool someone_fast = false;  // a host is faster than the median: the median may be slow
  bool fast_pairs = false;    // some pairs are always faster than their hosts' others
  bool said_enough = false;   // false if there are too few observations for a sigma
};

// Studentises the effects (standard error of a robust location 1.05 sigma / sqrt(n)) and finds
// suspects. `effects` are the fit of `seen`.
Screen screen(std::span<const Observation> seen, const Effects& effects, const Limits& limits);

// Returns how many rounds a screen needs that is to see hosts slow by the fraction `slowdown`:
// (7.5 sigma / -ln(1 - slowdown))^2 within the limits, at least 20 for fewer than 32 hosts and
// twice as many for fewer than 8.
std::size_t rounds_needed(double sigma, double slowdown, std::size_t hosts, const Limits& limits);

// The smallest slowdowns, as fractions, that are found in about 95 of 100 launches.
struct Detectable {
  double both_ways = 0, one_way = 0;
};
// Returns what a screen of `rounds` rounds and its confirmations can see; the inverse of
// rounds_needed(), and what the limits leave.
Detectable detectable(double sigma, std::size_t rounds, std::size_t hosts, const Limits& limits);

}  // namespace ccl_tests::acceptance
