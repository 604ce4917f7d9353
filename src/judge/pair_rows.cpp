#include "src/judge/pair_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ccl_tests {
namespace {

// The rows of one size and type: of each pair, smaller rank first, the best.
struct Series {
  std::string title;  // "8 B float"
  std::map<RankPair, double> seconds, messages_per_s;
};

// Returns the series in the order of their first rows. Rows that were not timed (-n 0) say nothing.
std::vector<Series> by_size(const std::vector<Row>& rows) {
  std::vector<Series> all;
  for (const Row& row : rows) {
    if (!row.pair || row.first_measured().seconds <= 0) continue;
    const std::string title = fmt::format("{} B {}", row.bytes, name(row.type));
    auto series =
        std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.title == title; });
    if (series == all.end()) series = all.insert(all.end(), Series{title, {}, {}});
    const RankPair pair = std::minmax({row.pair->first, row.pair->second});
    double& seconds = series->seconds.emplace(pair, INFINITY).first->second;
    double& rate = series->messages_per_s[pair];
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      if (cell->left_out) continue;
      seconds = std::min(seconds, cell->seconds);
      rate = std::max(rate, cell->messages_per_s.value_or(0));
    }
  }
  return all;
}

void add_matrix(std::vector<std::string>& lines, const Series& series, const std::set<int>& ranks) {
  lines.push_back(fmt::format("{}: time (us) between each two ranks", series.title));
  std::string head = "  rank";
  for (const int rank : ranks) head += fmt::format("  {:>8}", rank);
  lines.push_back(head);
  for (const int row : ranks) {
    std::string line = fmt::format("  {:>4}", row);
    for (const int column : ranks)
      line += row == column
                  ? fmt::format("  {:>8}", '-')
                  : fmt::format("  {:>8.2f}", series.seconds.at(std::minmax({row, column})) * 1e6);
    lines.push_back(line);
  }
}

// Returns which file has a row for each pair.
std::string keeper(const std::vector<std::string>& files) {
  const auto has_pairs = [](const std::string& file) {
    return file.ends_with(".jsonl") || file.ends_with(".csv") || file.ends_with(".json");
  };
  const auto found = std::find_if(files.begin(), files.end(), has_pairs);
  return found == files.end() ? "-J run.jsonl keeps them" : *found + " has them";
}

}  // namespace

std::vector<std::string> pair_matrices(const std::vector<Row>& rows,
                                       const std::vector<std::string>& files) {
  constexpr std::size_t fewest_ranks = 4, most_ranks = 16;
  std::vector<std::string> lines;
  const std::vector<Series> all = by_size(rows);
  for (const Series& series : all) {
    std::set<int> ranks;
    for (const auto& [pair, seconds] : series.seconds) ranks.insert({pair.first, pair.second});
    const std::size_t n = ranks.size();
    if (n < fewest_ranks || series.seconds.size() < n * (n - 1) / 2) continue;
    if (n > most_ranks)
      return {fmt::format(
          "the times between each two ranks are printed of at most {}, not of {}; {}, in rows with a pair",
          most_ranks, n, keeper(files))};
    const bool at_an_end = &series == &all.front() || &series == &all.back();
    if (at_an_end) add_matrix(lines, series, ranks);
  }
  return lines;
}

std::vector<std::string> message_rates(const std::vector<Row>& rows, bool at_once) {
  std::vector<std::string> lines;
  for (const Series& series : by_size(rows)) {
    double sum = 0, slowest = INFINITY, fastest = 0;
    for (const auto& [pair, rate] : series.messages_per_s) {
      sum += rate;
      slowest = std::min(slowest, rate);
      fastest = std::max(fastest, rate);
    }
    const std::size_t pairs = series.messages_per_s.size();
    const std::string rate =
        pairs == 1 ? fmt::format("{:.0f} messages/s", sum)
        : at_once
            ? fmt::format("{:.0f} messages/s of {} pairs at once", sum, pairs)
            : fmt::format("{:.0f} to {:.0f} messages/s, each of {} pairs", slowest, fastest, pairs);
    lines.push_back(fmt::format("{}: {}, one direction", series.title, rate));
  }
  return lines;
}

}  // namespace ccl_tests
