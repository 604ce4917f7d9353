#include "tools/acceptance/random.hpp"

namespace ccl_tests::acceptance {

std::size_t below(Random& random, std::size_t n) {
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t whole = Random::max() - Random::max() % range;  // a multiple of n
  std::uint64_t value = random();
  while (value >= whole) value = random();
  return static_cast<std::size_t>(value % range);
}

}  // namespace ccl_tests::acceptance
