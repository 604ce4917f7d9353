// What turns show together: the time of each pattern alone, and how many times as long it takes
// beside others. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests::mesh {

// One measurement of a pattern, the victim, alone or beside others.
struct Turn {
  static constexpr int alone = -1;
  std::size_t round = 0;
  std::size_t victim = 0;
  int beside = alone;  // the number of another pattern; the number of patterns: all others
  double seconds = 0;  // of one call: the mean of the turn, of the slowest group
  bool right = true;   // no element of the victim's data was wrong
};

// Returns the turns of a victim in one round: alone, beside each other pattern, beside all others if
// these are two or more, and the same backwards. What drifts over a round cancels out.
std::vector<int> turns_of(std::size_t victim, std::size_t patterns);

struct Interval {
  double value = 0, low = 0, high = 0;  // with 95 % confidence
};

// One pattern as the victim.
struct Victim {
  std::optional<Interval> alone = {};  // seconds of a call; nullopt: not known
  std::string why_not = {};            // the reason, if not known
  // The time beside pattern k over the time alone, the last one beside all others. nullopt: not
  // measured, or the time alone is not known.
  std::vector<std::optional<Interval>> slowdowns = {};
};

// Returns what is known of each of the patterns. A time alone is the median of its turns. It is not
// known from fewer than 6 turns, if its interval is wider than +-50 % or if data were wrong. A
// slowdown is the geometric mean over complete rounds, with Student's interval of its logarithm.
// advice: what to use if the interval is too wide.
std::vector<Victim> matrix_of(std::size_t patterns, std::span<const Turn> turns,
                              std::string_view advice = "longer turns or more rounds");

}  // namespace ccl_tests::mesh
