// The constants of the search for bad hosts, and which hosts stand out of the first rounds: suspects, not yet names.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "tools/acceptance/search/rounds.hpp"

namespace ccl_tests::acceptance {

// Effects are natural logarithms: a host that is slow by the fraction f has -ln(1 - f).
struct Limits {
  // Effect worth naming where 10 % has to be found, about half of that; more in proportion where more has to be.
  double smallest = 0.05;
  double suspect_z = 3;  // low on purpose: a false suspect costs rounds, not a false name
  double floor = 0.005;  // effect that machines without noise may differ by
  double fast_z = 4;     // from which a host counts as faster than the others
  std::size_t fewest_rounds = 8, most_rounds = 64;  // of the screen
  std::array<std::size_t, 3> looks = {8, 16, 32};   // rounds of a confirmation
  // Probabilities that a confirmation blames any healthy suspect. Small launches have few partners,
  // and would find too little with the ones of large launches.
  double first_alpha = 1e-4, second_alpha = 1e-3;
  double first_alpha_small = 1e-3, second_alpha_small = 1e-2;
};

inline constexpr std::size_t small_launch = 16;       // fewer hosts than this are few
inline constexpr std::size_t fewest_named = 4;        // hosts below which no host is named
inline constexpr std::size_t fewest_for_links = 6;    // hosts below which no link is named
inline constexpr std::size_t fewest_for_uplinks = 4;  // racks below which no uplink is named
inline constexpr std::size_t fewest_for_tails = 50;   // operations below which a p95 says nothing

// Returns how many hosts of a launch can be bad at most so that the others show it.
constexpr std::size_t most_suspects(std::size_t hosts) { return hosts < 6 ? 1 : hosts / 3; }

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
