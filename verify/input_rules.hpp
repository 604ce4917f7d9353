// What the rules of floating-point and of integer inputs share with the code that knows which loss
// shows where.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ccl_tests::verify {

// How the contributors of a float sum share the 2^p units of either sign.
struct SumPlan {
  std::size_t contributors;
  std::uint64_t largest;  // units per contributor
};
inline std::size_t sum_contributors(int significand, bool doubled, int ranks) {
  const int most_bits = significand - (doubled ? 1 : 0) + 1;
  return std::min(static_cast<std::size_t>(ranks), std::size_t{1} << most_bits);
}
inline SumPlan plan_sum(int significand, bool doubled, int ranks) {
  const std::uint64_t budget = std::uint64_t{1} << (significand - (doubled ? 1 : 0));
  const std::size_t contributors = sum_contributors(significand, doubled, ranks);
  return {contributors, std::max<std::uint64_t>(1, budget / ((contributors + 1) / 2))};
}

inline constexpr int prod_powers = 6;  // factors 2, and as many factors 1/2, per element
inline constexpr std::size_t prod_step = 2 * prod_powers + 1;  // ranks with a factor other than +-1

inline constexpr std::size_t bitwise_owners = 2;  // ranks that decide an element of band or bor

// Properties of an element, the same on every rank; of band and bor also which owner clears a bit.
inline constexpr std::uint64_t shape_salt = 1, side_salt = 2, shared_salt = 3;
inline constexpr std::uint64_t value_salt = 1U << 20;  // + rank

}  // namespace ccl_tests::verify
