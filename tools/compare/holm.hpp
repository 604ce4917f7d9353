// Holm's correction for several tests (Scandinavian Journal of Statistics 6, 1979).
#pragma once

#include <cstddef>
#include <vector>

namespace ccl_tests::compare {

// Returns the adjusted p-values, in the order of `p`. Rejecting those at most `alpha` keeps the
// probability of any false rejection at most `alpha`, whatever the dependence between the tests.
std::vector<double> holm(const std::vector<double>& p);

// Returns how many pairs a sign test needs so that its smallest p-value survives the correction
// over `tests` tests at `alpha`.
std::size_t fewest_pairs(std::size_t tests, double alpha);

}  // namespace ccl_tests::compare
