#include "src/judge/pair_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace ccl_tests {
namespace {

using TakeKey = std::tuple<std::size_t, DataType, int, bool>;  // bytes, type, cycle, in place
using Times = std::map<RankPair, double>;

RankPair ascending(const RankPair& pair) {
  return {std::min(pair.first, pair.second), std::max(pair.first, pair.second)};
}

bool timed(const Measurement& cell) { return std::isfinite(cell.seconds) && cell.seconds > 0; }

// Returns the times of all pairs; nullopt if one is missing.
std::optional<PairTake> complete(std::size_t bytes, const Times& times, std::size_t pairs) {
  if (times.size() < pairs) return std::nullopt;
  PairTake take{bytes, {}};
  for (const auto& [pair, log_seconds] : times) take.log_seconds.push_back(log_seconds);
  return take;
}

}  // namespace

PairTable pair_table(const std::vector<Row>& rows) {
  std::map<TakeKey, Times> takes;
  std::set<RankPair> seen;
  for (const Row& row : rows) {
    if (!row.pair) continue;
    const RankPair pair = ascending(*row.pair);
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      if (!timed(*cell) || !cell->has_own_time()) continue;
      seen.insert(pair);
      takes[{row.bytes, row.type, row.cycle, cell == &row.in_place}][pair] =
          std::log(cell->seconds);
    }
  }
  PairTable table;
  table.pairs.assign(seen.begin(), seen.end());
  for (const auto& [key, times] : takes) {
    if (auto take = complete(std::get<0>(key), times, table.pairs.size()))
      table.takes.push_back(std::move(*take));
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

}  // namespace ccl_tests
