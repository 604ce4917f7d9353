#include "src/judge/pair_band.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/measure/effects.hpp"
#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

using TakeKey = std::tuple<std::size_t, DataType, int, bool>;  // bytes, type, cycle, in place
using Times = std::map<RankPair, double>;

using Values = std::vector<double>;  // of each pair

constexpr double most_of_a_take = 4;  // no single take is to decide
constexpr std::size_t few_ranks = 8;  // fewer than this are few

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

std::size_t ranks_of(const std::vector<RankPair>& pairs) {
  int largest = -1;
  for (const RankPair& pair : pairs) largest = std::max({largest, pair.first, pair.second});
  return at(largest + 1);
}

// Takes of the band, each less its median.
std::vector<Values> centred_takes(const PairTable& table, const SizeBand& band) {
  std::vector<Values> takes;
  for (const PairTake& take : table.takes) {
    if (take.bytes < band.first || take.bytes > band.last) continue;
    Values& values = takes.emplace_back(take.log_seconds);
    const double middle = median(values);
    for (double& value : values) value -= middle;
  }
  return takes;
}

Values medians_over(const std::vector<Values>& takes, std::size_t pairs) {
  Values medians, own;
  for (std::size_t p = 0; p < pairs; ++p) {
    own.clear();
    for (const Values& take : takes) own.push_back(take[p]);
    medians.push_back(median(own));
  }
  return medians;
}

// Returns Wilcoxon's rank sum of `own` of `all` values as a standard normal value.
double wilcoxon_z(double sum, double own, double all) {
  const double mean = own * (all + 1) / 2;
  const double variance = own * (all - own) * (all + 1) / 12;
  if (variance <= 0) return 0;
  return std::clamp((sum - mean) / std::sqrt(variance), -most_of_a_take, most_of_a_take);
}

// Adds a take to the evidence about ranks and about pairs.
void add_evidence(const std::vector<RankPair>& pairs, const Values& take,
                  const std::vector<double>& number, BandFit& fit) {
  const auto all = static_cast<double>(pairs.size());
  std::vector<double> sums(number.size());
  const Values of_ranks = places(take);
  Values corrected = take;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto [a, b] = pairs[p];
    sums[at(a)] += of_ranks[p];
    sums[at(b)] += of_ranks[p];
    corrected[p] -= fit.effect[at(a)] + fit.effect[at(b)];
  }
  const double root = std::sqrt(static_cast<double>(fit.takes));
  for (std::size_t r = 0; r < sums.size(); ++r)
    fit.rank_z[r] += wilcoxon_z(sums[r], number[r], all) / root;
  const Values of_pairs = places(corrected);
  for (std::size_t p = 0; p < pairs.size(); ++p)
    fit.link_z[p] += wilcoxon_z(of_pairs[p], 1, all) / root;
}

// Sets the effects and what is left of the pairs' values. A pair's time counts in both directions:
// fit_effects() then solves two lists of effects, which are equal but for rounding.
void fit_values(const std::vector<RankPair>& pairs, const Values& values, std::size_t ranks,
                BandFit& fit) {
  std::vector<Observation> seen;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    seen.push_back({pairs[p].first, pairs[p].second, 0, values[p]});
    seen.push_back({pairs[p].second, pairs[p].first, 0, values[p]});
  }
  const Effects both = fit_effects(seen, ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    fit.effect.push_back((both.sending[r] + both.receiving[r]) / 2);
  for (std::size_t p = 0; p < pairs.size(); ++p)
    fit.residual.push_back((both.residuals[2 * p] + both.residuals[2 * p + 1]) / 2);
  // fit_effects() takes twice as many values and parameters as there are, but for one parameter.
  const auto n = static_cast<double>(pairs.size()), r = static_cast<double>(ranks);
  fit.sigma = n <= r ? INFINITY : both.sigma * std::sqrt((2 * n - 2 * r + 1) / (2 * n - 2 * r));
}

// Returns the standard deviation of a pair's median over takes that their scatter lets expect.
double expected_sigma(const std::vector<Values>& takes, const Values& medians) {
  const auto number = static_cast<double>(takes.size());
  if (takes.size() < 2) return 0;
  Values scatter;
  for (const Values& take : takes)
    for (std::size_t p = 0; p < take.size(); ++p) scatter.push_back(take[p] - medians[p]);
  // Each take's deviation is from a median that the take is part of.
  const double of_one = robust_deviation(std::move(scatter)) * std::sqrt(number / (number - 1));
  return 1.25 * of_one / std::sqrt(number);  // the variance of a median is pi / 2 of the mean's
}

// Returns what the effects' errors come from. A fit to few pairs leaves most residuals at 0, and
// their median says nothing: there the root of their mean square counts, too, in which an outlier
// hides a slow rank rather than make one.
double sigma_of_effects(const BandFit& fit, std::size_t ranks) {
  const auto n = static_cast<double>(fit.residual.size()), r = static_cast<double>(ranks);
  if (ranks >= few_ranks || n <= r) return fit.sigma;
  double squares = 0;
  for (const double one : fit.residual) squares += one * one;
  return std::max(fit.sigma, std::sqrt(squares / (n - r)));
}

}  // namespace

PairTable pair_table(const std::vector<Row>& rows) {
  std::map<TakeKey, Times> takes;
  std::set<RankPair> seen;
  for (const Row& row : rows) {
    if (!row.pair) continue;
    const RankPair pair = std::minmax({row.pair->first, row.pair->second});
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      if (!std::isfinite(cell->seconds) || cell->seconds <= 0 || !cell->has_own_time()) continue;
      seen.insert(pair);
      takes[{row.bytes, row.type, row.cycle, cell == &row.in_place}][pair] =
          std::log(cell->seconds);
    }
  }
  PairTable table;
  table.pairs.assign(seen.begin(), seen.end());
  for (const auto& [key, times] : takes) {
    if (times.size() < table.pairs.size()) continue;
    PairTake& take = table.takes.emplace_back(PairTake{std::get<0>(key), {}});
    for (const auto& [pair, log_seconds] : times) take.log_seconds.push_back(log_seconds);
  }
  return table;
}

PairTable between_hosts(const PairTable& table, const std::vector<std::string>& hosts) {
  const auto known = [&](int rank) { return static_cast<std::size_t>(rank) < hosts.size(); };
  PairTable kept;
  std::vector<std::size_t> columns;
  for (std::size_t p = 0; p < table.pairs.size(); ++p) {
    const auto [a, b] = table.pairs[p];
    if (!known(a) || !known(b)) return table;
    if (hosts[static_cast<std::size_t>(a)] == hosts[static_cast<std::size_t>(b)]) continue;
    columns.push_back(p);
    kept.pairs.push_back(table.pairs[p]);
  }
  if (columns.empty()) return table;
  for (const PairTake& take : table.takes) {
    PairTake& part = kept.takes.emplace_back(PairTake{take.bytes, {}});
    for (const std::size_t p : columns) part.log_seconds.push_back(take.log_seconds[p]);
  }
  return kept;
}

std::vector<std::size_t> sizes_of(const PairTable& table) {
  std::vector<std::size_t> sizes;
  for (const PairTake& take : table.takes)
    if (sizes.empty() || sizes.back() != take.bytes) sizes.push_back(take.bytes);
  return sizes;
}

std::vector<SizeBand> bands_of(const PairTable& table) {
  const std::vector<std::size_t> sizes = sizes_of(table);
  const std::size_t n = sizes.size();
  if (n == 0) return {};
  std::vector<SizeBand> bands = {{sizes.front(), sizes.back()}};
  std::vector<std::size_t> parts;
  if (n >= 2) parts.push_back(2);
  if (n >= 8) parts.push_back(4);
  for (const std::size_t part : parts) {
    bands.push_back({sizes.front(), sizes[n / part - 1]});
    bands.push_back({sizes[n - n / part], sizes.back()});
  }
  return bands;
}

BandFit fit_band(const PairTable& table, const SizeBand& band) {
  const std::size_t ranks = ranks_of(table.pairs);
  const std::vector<Values> takes = centred_takes(table, band);
  BandFit fit;
  fit.takes = takes.size();
  if (takes.empty()) return fit;
  const Values values = medians_over(takes, table.pairs.size());
  fit_values(table.pairs, values, ranks, fit);
  fit.sigma = std::max(fit.sigma, expected_sigma(takes, values));
  fit.spread = spread_of(fit.effect, ranks < few_ranks);
  const double of_effects = sigma_of_effects(fit, ranks);
  std::vector<double> number(ranks);
  for (const RankPair& pair : table.pairs)
    for (const int rank : {pair.first, pair.second}) ++number[at(rank)];
  const auto all = static_cast<double>(table.pairs.size());
  for (const double own : number) {
    fit.error.push_back(own > 0 ? 1.1 * of_effects / std::sqrt(own) : INFINITY);
    const double slowest_sum =
        own * (all - own) + own * (own + 1) / 2;  // none of the others is slower
    fit.largest_z.push_back(wilcoxon_z(slowest_sum, own, all) *
                            std::sqrt(static_cast<double>(fit.takes)));
  }
  fit.rank_z.resize(ranks);
  fit.link_z.resize(table.pairs.size());
  std::vector<double> deviations;
  for (const Values& take : takes) {
    add_evidence(table.pairs, take, number, fit);
    deviations.push_back(robust_deviation(take));
  }
  fit.take_sigma = median(std::move(deviations));
  return fit;
}

std::vector<double> effects_by_size(const PairTable& table, int rank,
                                    const std::vector<std::size_t>& sizes) {
  std::vector<double> effects;
  for (const std::size_t bytes : sizes) {
    std::vector<double> of_takes;
    for (const PairTake& take : table.takes) {
      if (take.bytes != bytes) continue;
      Values own, others;
      for (std::size_t p = 0; p < table.pairs.size(); ++p) {
        const bool is_own = table.pairs[p].first == rank || table.pairs[p].second == rank;
        (is_own ? own : others).push_back(take.log_seconds[p]);
      }
      if (!own.empty() && !others.empty())
        of_takes.push_back(median(std::move(own)) - median(std::move(others)));
    }
    effects.push_back(of_takes.empty() ? 0 : median(std::move(of_takes)));
  }
  return effects;
}

}  // namespace ccl_tests
