// The parts that the rules of floating-point and of integer inputs share with the code that knows which loss
// shows where.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ccl_tests::verify {

// Ranks that share the `budget` units which an element of a sum may have of either sign, even if one of them is taken twice.
inline std::size_t sum_contributors(std::uint64_t budget, int ranks) {
  return static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(ranks), budget - 1));
}
inline std::uint64_t float_budget(int significand, bool doubled) {
  return std::uint64_t{1} << (significand - (doubled ? 1 : 0));
}

// One contributor's part of a sum: 1 to `largest` units.
struct SumPart {
  bool negative;
  std::uint64_t largest;
};
// The first `positive` contributors are positive. Where as many of one unit each are on either side, all sums are 0.
inline SumPart sum_part(std::uint64_t budget, std::size_t contributors, std::size_t positive,
                        std::size_t place) {
  const bool negative = place >= positive;
  return {negative, budget / ((negative ? contributors - positive : positive) + 1)};
}

// Returns true if float averages are exact: 1/n is a power of two.
inline bool averages_exactly(int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks));
}

inline constexpr int prod_powers = 6;  // factors 2, and as many factors 1/2, per element
inline constexpr std::size_t prod_step = 2 * prod_powers + 1;  // ranks with a factor other than +-1

inline constexpr std::size_t bitwise_owners = 2;  // ranks that decide an element of band or bor

// Properties of an element, the same on every rank; of band and bor also which owner clears a bit.
inline constexpr std::uint64_t shape_salt = 1, side_salt = 2, shared_salt = 3;
inline constexpr std::uint64_t value_salt = 1U << 20, more_salt = 1U << 21;  // + rank

}  // namespace ccl_tests::verify
