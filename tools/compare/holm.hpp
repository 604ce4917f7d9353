// Holm's correction for several tests (Scandinavian Journal of Statistics 6, 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ccl_tests::compare {

// Returns the adjusted p-values, in the order of `p`. Rejecting those at most `alpha` keeps the
// probability of any false rejection at most `alpha`, whatever the dependence between the tests.
std::vector<double> holm(const std::vector<double>& p);

// Returns how many pairs a sign test needs so that its smallest p-value survives the correction
// over `tests` tests at `alpha`.
std::size_t fewest_pairs(std::size_t tests, double alpha);

// Returns how many of `pairs` pairs must lie beyond the bound so that the sign test's p-value
// survives the correction over `tests` tests at `alpha`. Returns nullopt if all are not enough.
std::optional<std::size_t> pairs_that_agree(std::size_t pairs, std::size_t tests, double alpha);

}  // namespace ccl_tests::compare
