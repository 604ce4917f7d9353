#include "tools/compare/rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "src/measure/statistics.hpp"

namespace ccl_tests::compare {
namespace {

RowTime time_of(const Measurement& cell, JudgedBy by) {
  if (is_fast(cell, {by, 0})) return {judged_time(cell, {by, 0}).value, std::nullopt};
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

}  // namespace ccl_tests::compare
