#include "tools/compare/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "src/measure/statistics.hpp"

namespace ccl_tests::compare {
namespace {

double fair_coin_tail(std::size_t trials, std::size_t heads) {
  return binomial_tail(trials, heads, 0.5);
}

}  // namespace

double p_median_at_most(const std::vector<double>& values, double bound) {
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double value) { return value > bound; });
  return fair_coin_tail(values.size(), static_cast<std::size_t>(above));
}

double p_median_at_least(const std::vector<double>& values, double bound) {
  const auto below =
      std::count_if(values.begin(), values.end(), [&](double value) { return value < bound; });
  return fair_coin_tail(values.size(), static_cast<std::size_t>(below));
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  const std::size_t n = values.size();
  std::sort(values.begin(), values.end());
  // The median lies below the k-th smallest value if at least n - k + 1 values lie above it.
  std::size_t k = 0;
  while (k + 1 <= n / 2 && 2 * fair_coin_tail(n, n - k) <= 1 - confidence) ++k;
  if (k == 0) return std::nullopt;
  return Interval{values[k - 1], values[n - k]};
}

namespace {

RowTime time_of(const Measurement& cell, JudgedBy by) {
  if (is_fast(cell, by)) return {judged_time(cell, by).value, std::nullopt};
  RowTime time{cell.seconds, std::nullopt};
  if (cell.stream && cell.stream->low && cell.stream->high)
    time.interval = Interval{*cell.stream->low, *cell.stream->high};
  return time;
}

RowTime middle(const std::vector<RowTime>& cycles) {
  if (cycles.size() == 1) return cycles.front();
  std::vector<double> seconds;
  for (const RowTime& cycle : cycles) seconds.push_back(cycle.seconds);
  return {median(seconds), std::nullopt};
}

}  // namespace

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
  std::map<RowKey, std::vector<RowTime>> cycles;
  std::map<RowKey, std::vector<RowTime>> passes;
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
  for (const auto& [key, values] : cycles) times.emplace(key, middle(values));
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

}  // namespace ccl_tests::compare
