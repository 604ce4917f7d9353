// The constants of the search for bad hosts. They were chosen on simulated launches
// (tests/bench/acceptance_truth.cpp).
#pragma once

#include <array>
#include <cstddef>

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

}  // namespace ccl_tests::acceptance
