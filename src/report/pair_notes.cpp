#include "src/report/pair_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

// The rows of one size and type.
struct Series {
  std::size_t bytes;
  DataType type;
  std::map<RankPair, double> seconds;         // smaller rank first
  std::map<RankPair, double> messages_per_s;  // the best

  std::string title() const { return fmt::format("{} B {}", bytes, name(type)); }
};

void add(Series& series, const Row& row) {
  const auto [low, high] = std::minmax(row.pair->first, row.pair->second);
  const RankPair pair{low, high};
  double& seconds =
      series.seconds.emplace(pair, std::numeric_limits<double>::infinity()).first->second;
  double& rate = series.messages_per_s[pair];
  for (const Measurement* half : {&row.out_of_place, &row.in_place}) {
    seconds = std::min(seconds, half->seconds);
    rate = std::max(rate, half->messages_per_s.value_or(0));
  }
}

// In the order of their first rows. Rows that were not timed (-n 0) say nothing.
std::vector<Series> by_size(const std::vector<Row>& rows) {
  std::vector<Series> all;
  for (const Row& row : rows) {
    if (!row.pair || row.out_of_place.seconds <= 0) continue;
    const auto same = [&](const Series& s) { return s.bytes == row.bytes && s.type == row.type; };
    auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) found = all.insert(all.end(), Series{row.bytes, row.type, {}, {}});
    add(*found, row);
  }
  return all;
}

template <class Key>
std::pair<Key, double> largest(const std::map<Key, double>& values) {
  return *std::max_element(values.begin(), values.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

template <class Key>
double median_of(const std::map<Key, double>& values) {
  std::vector<double> all;
  for (const auto& [key, value] : values) all.push_back(value);
  return median(all);
}

std::string host(const std::vector<std::string>& hosts, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  return r < hosts.size() ? hosts[r] : "?";
}

std::string hosts_of(const std::vector<std::string>& hosts, const RankPair& pair) {
  const std::string first = host(hosts, pair.first);
  const std::string second = host(hosts, pair.second);
  return first == second ? first : first + ", " + second;
}

std::string slowest_pair(const Series& series, const std::vector<std::string>& hosts) {
  const double typical = median_of(series.seconds);
  const auto [pair, seconds] = largest(series.seconds);
  return fmt::format(
      "{}: {} pairs, median {:.2f} us, slowest {} ({}) {:.2f} us, {:.1f} x the median",
      series.title(), series.seconds.size(), typical * 1e6, name(pair), hosts_of(hosts, pair),
      seconds * 1e6, seconds / typical);
}

// A rank is judged by the median of its pairs: one bad link leaves it as it is, a bad host does
// not.
std::string slowest_rank(const Series& series, const std::set<int>& ranks,
                         const std::vector<std::string>& hosts) {
  std::map<int, double> medians;
  for (const int rank : ranks) {
    std::vector<double> own;
    for (const auto& [pair, seconds] : series.seconds) {
      if (pair.first == rank || pair.second == rank) own.push_back(seconds);
    }
    medians[rank] = median(own);
  }
  const auto [rank, seconds] = largest(medians);
  return fmt::format(
      "{}: slowest rank {} ({}), median of its pairs {:.2f} us, {:.1f} x the ranks' median",
      series.title(), rank, host(hosts, rank), seconds * 1e6, seconds / median_of(medians));
}

void add_matrix(std::vector<std::string>& lines, const Series& series, const std::set<int>& ranks) {
  lines.push_back(fmt::format("{}: time (us) between each two ranks", series.title()));
  std::string head = "  rank";
  for (const int rank : ranks) head += fmt::format("  {:>8}", rank);
  lines.push_back(head);
  for (const int row : ranks) {
    std::string line = fmt::format("  {:>4}", row);
    for (const int column : ranks) {
      const auto [low, high] = std::minmax(row, column);
      line += row == column ? fmt::format("  {:>8}", '-')
                            : fmt::format("  {:>8.2f}", series.seconds.at({low, high}) * 1e6);
    }
    lines.push_back(line);
  }
}

}  // namespace

std::vector<std::string> slowest_pairs(const std::vector<Row>& rows,
                                       const std::vector<std::string>& hosts) {
  constexpr std::size_t fewest_ranks = 4, most_in_matrix = 16;
  std::vector<std::string> lines;
  const std::vector<Series> all = by_size(rows);
  for (const Series& series : all) {
    const std::size_t pairs = series.seconds.size();
    if (pairs < 2) continue;
    lines.push_back(slowest_pair(series, hosts));
    std::set<int> ranks;
    for (const auto& [pair, seconds] : series.seconds) ranks.insert({pair.first, pair.second});
    const std::size_t n = ranks.size();
    if (n < fewest_ranks || pairs < n * (n - 1) / 2) continue;
    lines.push_back(slowest_rank(series, ranks, hosts));
    const bool at_an_end = &series == &all.front() || &series == &all.back();
    if (at_an_end && n <= most_in_matrix) add_matrix(lines, series, ranks);
  }
  return lines;
}

std::vector<std::string> message_rates(const std::vector<Row>& rows, bool at_once) {
  std::vector<std::string> lines;
  for (const Series& series : by_size(rows)) {
    double sum = 0;
    double slowest = std::numeric_limits<double>::infinity();
    double fastest = 0;
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
    lines.push_back(fmt::format("{}: {}, one direction", series.title(), rate));
  }
  return lines;
}

}  // namespace ccl_tests
