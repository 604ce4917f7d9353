// The look at suspects: rounds with good hosts, and the decision about each after them.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {

struct Suspect {
  int host = 0;
  Statistic statistic = Statistic::time;
};

// What the screen says of noise, of one statistic.
struct Noise {
  double sigma = 0;              // of one observation
  PerWay<double> variance = {};  // between healthy hosts, beyond that of their standard error
};
// Returns sigma, and spread^2 - error^2 of each way or 0.
Noise noise_of(const Screen& screen);

struct ConfirmPlan {
  std::vector<Suspect> suspects;
  std::vector<int> good;     // hosts that may be partners and controls
  std::vector<int> rack_of;  // by number of the host; pairs lie inside racks. Empty: one rack
  Noise time, tail;
  // A suspect is blamed from the standard error's quantile on: alpha over 3 ways, the suspects and
  // the looks, by Bonferroni.
  double alpha = 1e-4;
  Limits limits;
};

// What one host's rounds say beside the median of their controls. NaN is missing.
struct RoundValue {
  double sending = std::numeric_limits<double>::quiet_NaN();
  double receiving = std::numeric_limits<double>::quiet_NaN();
};

struct Judged {
  double effect = 0, error = 0;  // the median over rounds, and its standard error
  bool blamed = false, cleared = false;
};

enum class Decision { open, blamed, cleared };

// One suspect's outcome.
struct Confirmation {
  Suspect suspect;
  Decision decision = Decision::open;
  PerWay<Judged> way;
  std::vector<RoundValue> values;  // of each of its rounds
  double began = 0, ended = 0;     // seconds, of its first and last round
};

struct Confirmations {
  std::vector<Confirmation> suspects;  // in the order of the plan
  std::size_t rounds = 0;
};

// Measures rounds of suspects and controls until each suspect is decided, and decides after each
// look. A suspect is blamed if in any way its median is at least `smallest`, significantly above 0,
// above that of every control (if there are 8), and above 0 in most rounds (sign test, 4 % and
// 1.1 %). A suspect is cleared if all ways are too small for that. A suspect that the last look
// leaves is open; all are if fewer than two good hosts are left as controls.
Confirmations confirm(PairMeasurer& measurer, const ConfirmPlan& plan, Random& random);

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
