#include "tools/compare/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "src/measure/statistics.hpp"

namespace ccl_tests::compare {
namespace {

RowTime time_of(const Measurement& cell, JudgedBy by) {
  if (is_fast(cell, by)) return {judged_time(cell, by).value, std::nullopt};
  RowTime time{cell.seconds, std::nullopt};
  if (cell.stream && cell.stream->low && cell.stream->high)
    time.interval = Interval{*cell.stream->low, *cell.stream->high};
  return time;
}

// Returns the median of a row's cycles and its interval, which fewer than six have not.
RowTime median_of(const std::vector<RowTime>& times) {
  std::vector<double> values;
  for (const RowTime& time : times) values.push_back(time.seconds);
  return {median(values), median_interval(values)};
}

bool beyond(double ratio, double threshold) {
  return ratio > 1 + threshold || ratio < 1 - threshold;
}

bool within(const std::optional<Interval>& interval, double threshold) {
  return interval && interval->low >= 1 - threshold && interval->high <= 1 + threshold;
}

// Returns everything but interval and verdict.
RowResult described(const RowKey& key, const RowPairs& pairs, double threshold) {
  RowResult row;
  row.key = key;
  row.base_s = median_of(pairs.base).seconds;
  row.head_s = median_of(pairs.head).seconds;
  row.ratio = std::exp(median(pairs.log_ratios()));
  row.pairs = pairs.size();
  row.flagged = beyond(row.ratio, threshold);
  return row;
}

// Returns the interval of the ratio of two single times whose intervals are known.
std::optional<Interval> ratio_interval(const RowTime& base, const RowTime& head) {
  if (!base.interval || !head.interval || base.interval->low <= 0) return std::nullopt;
  return Interval{head.interval->low / base.interval->high,
                  head.interval->high / base.interval->low};
}

}  // namespace

double p_median_at_most(const std::vector<double>& values, double bound) {
  const auto above = std::ranges::count_if(values, [&](double value) { return value > bound; });
  return binomial_tail(values.size(), static_cast<std::size_t>(above), 0.5);
}

double p_median_at_least(const std::vector<double>& values, double bound) {
  const auto below = std::ranges::count_if(values, [&](double value) { return value < bound; });
  return binomial_tail(values.size(), static_cast<std::size_t>(below), 0.5);
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  const std::size_t n = values.size();
  std::ranges::sort(values);
  // The median lies below the k-th smallest value if at least n - k + 1 values lie above it.
  std::size_t k = 0;
  while (k + 1 <= n / 2 && 2 * binomial_tail(n, n - k, 0.5) <= 1 - confidence) ++k;
  if (k == 0) return std::nullopt;
  return Interval{values[k - 1], values[n - k]};
}

std::string where_text(const RowKey& key) {
  std::string text = key.in_place ? "in_place" : "out_of_place";
  if (key.root) text += fmt::format(",root={}", *key.root);
  if (key.group) text += fmt::format(",group={}", *key.group);
  if (key.pair) text += ",pair=" + name(*key.pair);
  return text;
}

std::string row_text(const RowKey& key) {
  return fmt::format("{} B {} {} {}", key.bytes, name(key.type), key.op ? name(*key.op) : "none",
                     where_text(key));
}

RunTimes times_of(const RecordedRun& run, JudgedBy by) {
  std::map<RowKey, std::vector<RowTime>> cycles, passes;
  for (const Row& row : run.rows) {
    const auto add = [&](const Measurement& cell, bool in_place) {
      if (std::isfinite(cell.seconds) && cell.seconds > 0)
        (row.pass ? passes : cycles)[key_of(row, in_place)].push_back(time_of(cell, by));
    };
    add(row.out_of_place, false);
    if (row.in_place.has_own_time()) add(row.in_place, true);
  }
  cycles.merge(passes);  // of rows that were killed before they had one of all passes
  RunTimes times;
  for (const auto& [key, values] : cycles)
    times[key] = values.size() == 1 ? values.front() : median_of(values);
  return times;
}

std::vector<double> RowPairs::log_ratios() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < size(); ++i)
    ratios.push_back(std::log(head[i].seconds / base[i].seconds));
  return ratios;
}

Matched match(const std::vector<RunPair>& pairs) {
  Matched matched;
  std::set<RowKey> base, head;
  for (const RunPair& pair : pairs) {
    for (const auto& [key, time] : pair.base) {
      base.insert(key);
      const auto other = pair.head.find(key);
      if (other == pair.head.end()) continue;
      RowPairs& row = matched.rows[key];
      row.base.push_back(time);
      row.head.push_back(other->second);
    }
    for (const auto& [key, time] : pair.head) head.insert(key);
  }
  for (const RowKey& key : base) matched.only_base += matched.rows.contains(key) ? 0 : 1;
  for (const RowKey& key : head) matched.only_head += matched.rows.contains(key) ? 0 : 1;
  return matched;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double scaled = p[order[i]] * static_cast<double>(p.size() - i);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::size_t fewest_pairs(std::size_t tests) {
  std::size_t pairs = 1;
  while (!pairs_that_agree(pairs, tests)) ++pairs;
  return pairs;
}

std::optional<std::size_t> pairs_that_agree(std::size_t pairs, std::size_t tests) {
  const auto survives = [&](std::size_t agree) {
    return binomial_tail(pairs, agree, 0.5) * static_cast<double>(tests) <= false_alarm_rate;
  };
  if (!survives(pairs)) return std::nullopt;
  std::size_t agree = pairs;
  while (agree > 0 && survives(agree - 1)) --agree;
  return agree;
}

std::string verdict_text(const RowResult& row) {
  constexpr std::array texts = {"slower",     "faster",       "same",
                                "not slower", "inconclusive", "unflagged"};
  const std::string text = texts[static_cast<std::size_t>(row.verdict)];
  return row.hint && row.verdict < RowVerdict::inconclusive ? text + '?' : text;
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
