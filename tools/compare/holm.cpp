#include "tools/compare/holm.hpp"

#include <algorithm>
#include <numeric>

#include "src/measure/statistics.hpp"

namespace ccl_tests::compare {

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double scaled = p[order[i]] * static_cast<double>(p.size() - i);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::size_t fewest_pairs(std::size_t tests, double alpha) {
  std::size_t pairs = 1;
  for (double p = 0.5; p * static_cast<double>(tests) > alpha; p /= 2) ++pairs;
  return pairs;
}

std::optional<std::size_t> pairs_that_agree(std::size_t pairs, std::size_t tests, double alpha) {
  const auto survives = [&](std::size_t agree) {
    return binomial_tail(pairs, agree, 0.5) * static_cast<double>(tests) <= alpha;
  };
  if (!survives(pairs)) return std::nullopt;
  std::size_t agree = pairs;
  while (agree > 0 && survives(agree - 1)) --agree;
  return agree;
}

}  // namespace ccl_tests::compare
