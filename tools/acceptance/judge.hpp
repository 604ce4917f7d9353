// The decision about one suspect after a look at its rounds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/acceptance/confirm.hpp"

namespace ccl_tests::acceptance {

// What was measured of one statistic beside the medians of the rounds' controls.
struct RoundValues {
  std::vector<std::vector<RoundValue>> of;  // by number of the host, an element a round
  double controls = 0;                      // control values a round, in the mean
};

// Returns what the values of `suspect` say of `way` beside those of `controls` (numbers of hosts).
// `quantile` is how many standard errors above 0 the suspect's median has to lie.
Judged judge(const RoundValues& values, int suspect, std::span<const int> controls, Way way,
             const Noise& noise, double quantile, const Limits& limits);

}  // namespace ccl_tests::acceptance
