#include "verify/coverage.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ccl_tests::verify {

std::size_t first_phases(const Inputs& inputs) {
  return inputs.period() - static_cast<std::size_t>(inputs.ranks());
}

double coverage(const Inputs& inputs, std::size_t start, std::size_t count) {
  if (!inputs.op() || inputs.ranks() == 1) return 1;
  std::vector<int> hidden(static_cast<std::size_t>(inputs.ranks()));
  std::iota(hidden.begin(), hidden.end(), 0);
  const std::size_t end = start + std::min(count, inputs.period());
  for (std::size_t i = start; i < end && !hidden.empty(); ++i) {
    const std::size_t j = i % inputs.period();
    const std::uint64_t total = inputs.total(j);
    const auto shown = [&](int rank) { return inputs.shows_loss(rank, j, total); };
    hidden.erase(std::remove_if(hidden.begin(), hidden.end(), shown), hidden.end());
  }
  return 1 - static_cast<double>(hidden.size()) / inputs.ranks();
}

std::size_t complete_from(const Inputs& inputs) {
  if (!inputs.op() || inputs.ranks() == 1) return 1;
  const std::size_t period = inputs.period();
  const std::size_t starts = first_phases(inputs);
  std::vector<std::uint64_t> totals(period);
  for (std::size_t j = 0; j < period; ++j) totals[j] = inputs.total(j);
  std::size_t needed = 1;
  for (int rank = 0; rank < inputs.ranks(); ++rank) {
    std::size_t start = 0;  // of the longest message that ends here and has not shown the loss
    for (std::size_t i = 0; start < starts; ++i) {
      if (i - start == period) return 0;
      if (!inputs.shows_loss(rank, i % period, totals[i % period])) continue;
      needed = std::max(needed, i - start + 1);
      start = i + 1;
    }
  }
  return needed;
}

}  // namespace ccl_tests::verify
