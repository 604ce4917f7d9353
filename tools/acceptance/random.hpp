// Random choices that every standard library makes alike from one seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace ccl_tests::acceptance {

// The engine's numbers are the same everywhere; those of std's distributions and std::shuffle are
// not, and every rank has to find the same schedule.
using Random = std::mt19937_64;

// Returns a number from 0 to n - 1, each with the same probability. `n` must not be 0.
std::size_t below(Random& random, std::size_t n);

// Puts `values` in random order (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[below(random, i)]);
}

}  // namespace ccl_tests::acceptance
