#include "src/judge/pair_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "src/record/quantity_text.hpp"

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
    if (half->left_out) continue;
    seconds = std::min(seconds, half->seconds);
    rate = std::max(rate, half->messages_per_s.value_or(0));
  }
}

// In the order of their first rows. Rows that were not timed (-n 0) say nothing.
std::vector<Series> by_size(const std::vector<Row>& rows) {
  std::vector<Series> all;
  for (const Row& row : rows) {
    if (!row.pair || row.first_measured().seconds <= 0) continue;
    const auto same = [&](const Series& s) { return s.bytes == row.bytes && s.type == row.type; };
    auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) found = all.insert(all.end(), Series{row.bytes, row.type, {}, {}});
    add(*found, row);
  }
  return all;
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

// Returns which file has a row for each pair.
std::string keeper(const std::vector<std::string>& files) {
  const auto has_pairs = [](const std::string& file) {
    return file.ends_with(".jsonl") || file.ends_with(".csv") || file.ends_with(".json");
  };
  const auto found = std::find_if(files.begin(), files.end(), has_pairs);
  return found == files.end() ? "-J run.jsonl keeps them" : *found + " has them";
}

std::string finding_text(const PairFinding& finding) {
  const std::string who = finding.rank
                              ? fmt::format("rank {} on {}", *finding.rank, finding.host)
                              : fmt::format("the link {} ({})", name(*finding.pair), finding.host);
  const std::string sizes =
      finding.first_bytes == finding.last_bytes
          ? fmt::format("at {}", binary_size_text(finding.first_bytes))
          : fmt::format("from {} to {}", binary_size_text(finding.first_bytes),
                        binary_size_text(finding.last_bytes));
  return fmt::format("{} stands out: {:.2f} x the others' time [{:.2f}, {:.2f}] {}", who,
                     finding.ratio, finding.low, finding.high, sizes);
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

std::vector<std::string> pair_answers(const PairJudgement& judgement) {
  constexpr std::size_t most = 4;
  std::vector<std::string> answers;
  const std::string more = judgement.note.empty() ? "" : "; " + judgement.note;
  for (const PairFinding& finding : judgement.findings) {
    if (answers.size() == most) break;
    answers.push_back(finding_text(finding));
  }
  if (judgement.findings.size() > most)
    answers.push_back(fmt::format("and {} more", judgement.findings.size() - most));
  if (!answers.empty()) {
    answers.back() += "; confirm with ccl_acceptance" + more;
  } else if (judgement.could_see) {
    answers.push_back(fmt::format(
        "no rank stands out; one that takes {:.2f} x the others' time at all sizes would have been seen{}",
        *judgement.could_see, more));
  } else if (!judgement.note.empty()) {
    answers.push_back("no rank is named: " + judgement.note);
  }
  return answers;
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
