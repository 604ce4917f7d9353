#include "tools/compare/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

namespace {

std::vector<double> seconds(const std::vector<RowTime>& times) {
  std::vector<double> values;
  for (const RowTime& time : times) values.push_back(time.seconds);
  return values;
}

bool beyond(double ratio, double threshold) {
  return ratio > 1 + threshold || ratio < 1 - threshold;
}

bool within(const std::optional<Interval>& interval, double threshold) {
  return interval && interval->low >= 1 - threshold && interval->high <= 1 + threshold;
}

// Everything but interval and verdict.
RowResult described(const RowKey& key, const RowPairs& pairs, double threshold) {
  RowResult row;
  row.key = key;
  row.base_s = median(seconds(pairs.base));
  row.head_s = median(seconds(pairs.head));
  row.ratio = std::exp(median(pairs.log_ratios()));
  row.pairs = pairs.size();
  row.flagged = beyond(row.ratio, threshold);
  return row;
}

// The interval of the ratio of two single times whose intervals are known.
std::optional<Interval> ratio_interval(const RowTime& base, const RowTime& head) {
  if (!base.interval || !head.interval || base.interval->low <= 0) return std::nullopt;
  return Interval{head.interval->low / base.interval->high,
                  head.interval->high / base.interval->low};
}

}  // namespace

std::string_view verdict_text(const RowResult& row) {
  constexpr std::array<std::array<std::string_view, 2>, 6> texts = {
      {{"slower", "slower?"},
       {"faster", "faster?"},
       {"same", "same?"},
       {"not slower", "not slower?"},
       {"inconclusive", "inconclusive"},
       {"unflagged", "unflagged"}}};
  return texts[static_cast<std::size_t>(row.verdict)][row.hint ? 1 : 0];
}

double tested_ratio(double threshold) { return 1 + 0.6 * threshold; }

std::set<RowKey> flag(const Matched& screen, double threshold) {
  std::set<RowKey> flagged;
  for (const auto& [key, pairs] : screen.rows)
    if (beyond(std::exp(median(pairs.log_ratios())), threshold)) flagged.insert(key);
  return flagged;
}

std::vector<RowResult> judge(const Matched& matched, double threshold,
                             const Correction& correction) {
  const double bound = std::log(tested_ratio(threshold));
  std::vector<RowResult> rows;
  std::vector<double> slower, faster, at_most;
  for (const auto& [key, pairs] : matched.rows) {
    RowResult& row = rows.emplace_back(described(key, pairs, threshold));
    const std::vector<double> ratios = pairs.log_ratios();
    if (const auto interval = median_interval(ratios))
      row.interval = Interval{std::exp(interval->low), std::exp(interval->high)};
    slower.push_back(p_median_at_most(ratios, bound));
    faster.push_back(p_median_at_least(ratios, -bound));
    at_most.push_back(p_median_at_least(ratios, std::log(1 + threshold)));
  }
  for (std::vector<double>* p : {&slower, &faster}) {
    p->resize(std::max(correction.tests, p->size()), 1.0);
    *p = holm(*p);
    for (double& one : *p) one = std::min(1.0, one * static_cast<double>(correction.looks));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowResult& row = rows[i];
    row.p_slower = slower[i];
    row.p_faster = faster[i];
    if (slower[i] <= false_alarm_rate)
      row.verdict = RowVerdict::slower;
    else if (faster[i] <= false_alarm_rate)
      row.verdict = RowVerdict::faster;
    else if (within(row.interval, threshold))
      row.verdict = RowVerdict::same;
    else if (at_most[i] <= false_alarm_rate)
      row.verdict = RowVerdict::not_slower;
  }
  return rows;
}

std::vector<RowResult> hint(const Matched& matched, double threshold) {
  std::vector<RowResult> rows;
  for (const auto& [key, pairs] : matched.rows) {
    RowResult& row = rows.emplace_back(described(key, pairs, threshold));
    row.hint = true;
    row.interval = ratio_interval(pairs.base.front(), pairs.head.front());
    if (!row.interval) continue;
    if (row.interval->low > 1 && row.ratio > 1 + threshold)
      row.verdict = RowVerdict::slower;
    else if (row.interval->high < 1 && row.ratio < 1 - threshold)
      row.verdict = RowVerdict::faster;
    else if (within(row.interval, threshold))
      row.verdict = RowVerdict::same;
  }
  return rows;
}

std::vector<RowResult> screened(const Matched& screen, const std::set<RowKey>& flagged) {
  std::vector<RowResult> rows;
  for (const auto& [key, pairs] : screen.rows) {
    RowResult& row = rows.emplace_back(described(key, pairs, 0));
    row.flagged = flagged.contains(key);
    row.verdict = row.flagged ? RowVerdict::inconclusive : RowVerdict::unflagged;
  }
  return rows;
}

}  // namespace ccl_tests::compare
