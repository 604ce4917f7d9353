#include "src/judge/pair_judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/measure/effects.hpp"
#include "src/measure/statistics.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

// Chosen with tests/unit/pair_power_test.cpp. Effects are natural logarithms of ratios of times.
constexpr double smallest = 0.0953;   // effect worth a name: ln 1.1
constexpr double most_seen = 4.6;     // effect worth saying that it would be seen: ln 100
constexpr double least_error = 0.01;  // of an effect, on machines without noise
// Half widths of an interval: of an effect that is named, of one that nine of ten runs show.
constexpr double named_rank = 3.5, named_link = 10, seen_rank = 7.5;
constexpr std::size_t fewest_times = 14, fewest_takes = 8;  // that name a rank, and a link

using Values = std::vector<double>;
// For each size (bytes), type, cycle and placement: ln(time) of each pair, less their median.
using Takes = std::multimap<std::size_t, Values>;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

RankPair ascending(const Row& row) { return std::minmax({row.pair->first, row.pair->second}); }

// The times of all pairs of ranks on different hosts, or of ranks that share one host.
struct PairTable {
  std::vector<std::string> units;  // by rank: its host, or the rank itself if all share one
  std::vector<RankPair> pairs;  // of two units, the smaller rank first; ascending. Empty: no take
  Takes takes;
};

// Leaves out takes in which a pair has no time (a run that was interrupted), and in-place times
// that repeat the out-of-place ones.
PairTable pair_table(const std::vector<Row>& rows, const std::vector<std::string>& hosts) {
  PairTable table{hosts, {}, {}};
  const bool one_host = std::set<std::string>(hosts.begin(), hosts.end()).size() < 2;
  for (std::size_t rank = 0; one_host && rank < hosts.size(); ++rank)
    table.units[rank] = std::to_string(rank);
  std::map<std::string, std::size_t> before;  // ranks of each unit
  std::size_t all = 0, ranks = 0;             // all: pairs of two units, of which there may be many
  for (const std::string& unit : table.units) all += ranks++ - before[unit]++;
  std::map<std::tuple<std::size_t, DataType, int, bool>, std::map<RankPair, double>> takes;
  for (const Row& row : rows) {
    const auto [a, b] = ascending(row);
    if (table.units.at(at(a)) == table.units.at(at(b))) continue;
    for (const Measurement* cell : {&row.out_of_place, &row.in_place})
      if (std::isfinite(cell->seconds) && cell->seconds > 0 && cell->has_own_time())
        takes[{row.bytes, row.type, row.cycle, cell == &row.in_place}][{a, b}] =
            std::log(cell->seconds);
  }
  for (const auto& [key, times] : takes) {
    if (times.size() < all) continue;
    table.pairs.clear();  // the same in each take
    Values values;
    for (const auto& [pair, time] : times) {
      table.pairs.push_back(pair);
      values.push_back(time);
    }
    const double middle = median(values);
    for (double& value : values) value -= middle;
    table.takes.emplace(std::get<0>(key), std::move(values));
  }
  return table;
}

// What the takes of some sizes show.
struct PairFit {
  std::size_t first_bytes = 0, last_bytes = 0, takes = 0;
  std::size_t times = 0;       // of a rank's pairs
  Values effect;               // of each rank, from its pairs' medians over the takes; median 0
  double half_width = 0;       // of the 95 % interval of a rank's effect
  Values beyond;               // of each pair: its median beyond the effect of its slower rank
  Values least;                // of each pair: the same of its fastest take
  double link_half_width = 0;  // of the 95 % interval of a link's effect

  bool names_rank(std::size_t rank) const {
    return times >= fewest_times && effect[rank] >= std::max(smallest, named_rank * half_width);
  }
  bool names_link(std::size_t pair) const {
    return takes >= fewest_takes && least[pair] >= std::max(smallest, named_link * link_half_width);
  }
};

PairFit fit_takes(const PairTable& table, Takes::const_iterator begin, Takes::const_iterator end) {
  const std::size_t ranks = table.units.size(), pairs = table.pairs.size();
  PairFit fit;
  fit.first_bytes = begin->first;
  fit.last_bytes = std::prev(end)->first;
  fit.takes = static_cast<std::size_t>(std::distance(begin, end));
  std::vector<Values> own(ranks);
  for (std::size_t p = 0; p < pairs; ++p) {
    Values times;
    for (auto take = begin; take != end; ++take) times.push_back(take->second[p]);
    fit.beyond.push_back(median(times));
    fit.least.push_back(*std::min_element(times.begin(), times.end()));
    own[at(table.pairs[p].first)].push_back(fit.beyond[p]);
    own[at(table.pairs[p].second)].push_back(fit.beyond[p]);
  }
  std::size_t fewest = pairs;  // of a rank
  for (const Values& some : own) {
    // One bad link raises the mean alone, times of two speeds the median alone.
    fit.effect.push_back(std::min(mean_of(some), median(some)));
    fewest = std::min(fewest, some.size());
  }
  fit.times = fit.takes * fewest;
  double squares = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const auto [a, b] = table.pairs[p];
    const double slower = std::max(fit.effect[at(a)], fit.effect[at(b)]);
    fit.beyond[p] -= slower;
    fit.least[p] -= slower;
    squares += fit.beyond[p] * fit.beyond[p];
  }
  const double centre = median(fit.effect);
  for (double& effect : fit.effect) effect -= centre;
  const std::size_t degrees = pairs - ranks;
  // The error of a median is 1.25 times that of a mean, and a little more of few values.
  const double error = 1.4 * std::sqrt(squares / static_cast<double>(degrees * fewest));
  const double spread = spread_of(fit.effect, ranks < 8);
  fit.half_width = student(degrees) * std::max({error, spread, least_error});
  fit.link_half_width = student(degrees) * std::max(robust_deviation(fit.beyond), least_error);
  return fit;
}

// Returns the fits of all sizes, of their lower half and of their upper half. The middle one of an
// odd number of sizes is in neither half.
std::vector<PairFit> fits_of(const PairTable& table) {
  const auto begin = table.takes.begin(), end = table.takes.end();
  const auto n = static_cast<std::ptrdiff_t>(table.takes.size());
  const auto lower_end = table.takes.lower_bound(std::next(begin, n / 2)->first);
  const auto upper_begin = table.takes.upper_bound(std::next(begin, (n - 1) / 2)->first);
  std::vector<PairFit> fits = {fit_takes(table, begin, end)};
  if (lower_end != begin) fits.push_back(fit_takes(table, begin, lower_end));
  if (upper_begin != end) fits.push_back(fit_takes(table, upper_begin, end));
  return fits;
}

PairFinding finding_in(const PairFit& fit, double effect, double half_width) {
  PairFinding finding;
  finding.ratio = std::exp(effect);
  finding.low = std::exp(effect - half_width);
  finding.high = std::exp(effect + half_width);
  finding.first_bytes = fit.first_bytes;
  finding.last_bytes = fit.last_bytes;
  return finding;
}

// Takes a half of the sizes only if the effect is 1.5 times as large there.
void add_if_slow(std::vector<PairFinding>& findings, const std::vector<PairFit>& fits,
                 std::size_t rank, const std::string& host) {
  const PairFit* in = nullptr;
  for (const PairFit& fit : fits)
    if (fit.names_rank(rank) && (in == nullptr || fit.effect[rank] > 1.5 * in->effect[rank]))
      in = &fit;
  if (in == nullptr) return;
  findings.push_back(finding_in(*in, in->effect[rank], in->half_width));
  findings.back().rank = static_cast<int>(rank);
  findings.back().host = host;
}

PairJudgement refused(std::string why) { return {{}, {}, std::move(why)}; }

}  // namespace

PairJudgement judge_pairs(const std::vector<Row>& rows, const std::vector<std::string>& hosts) {
  std::set<RankPair> timed;
  for (const Row& row : rows)
    if (row.first_measured().seconds > 0) timed.insert(ascending(row));
  if (timed.size() < 2) return {};
  const PairTable table = pair_table(rows, hosts);
  const std::size_t units = std::set<std::string>(table.units.begin(), table.units.end()).size();
  const std::string unit = table.units == hosts ? "hosts" : "ranks";
  if (units < 4)
    return refused(fmt::format("{} {} are too few to tell whose messages are slow; 4 are enough",
                               units, unit));
  if (table.takes.empty())
    return refused("only --pairs all, when it reaches its end, measures every two ranks");
  const std::vector<PairFit> fits = fits_of(table);
  const double seen = std::max(1.5 * smallest, seen_rank * fits.front().half_width);
  PairJudgement judgement;
  if (fits.front().times >= fewest_times && seen <= most_seen) judgement.could_see = std::exp(seen);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    add_if_slow(judgement.findings, fits, rank, hosts[rank]);
  std::set<std::string> slow;
  for (const PairFinding& finding : judgement.findings) slow.insert(table.units[at(*finding.rank)]);
  if (slow.size() > (units < 6 ? 1 : units / 3))
    return refused(fmt::format("{} of {} {} stand out, too many to tell which of them are slow",
                               slow.size(), units, unit));
  for (std::size_t p = 0; p < table.pairs.size() && units >= 6; ++p) {
    const auto [a, b] = table.pairs[p];
    if (slow.contains(table.units[at(a)]) || slow.contains(table.units[at(b)])) continue;
    const auto fit = std::find_if(fits.begin(), fits.end(),
                                  [&](const PairFit& one) { return one.names_link(p); });
    if (fit == fits.end()) continue;
    PairFinding& link =
        judgement.findings.emplace_back(finding_in(*fit, fit->beyond[p], fit->link_half_width));
    link.pair = table.pairs[p];
    link.host = hosts[at(a)];
    if (hosts[at(b)] != link.host) link.host += ", " + hosts[at(b)];
  }
  if (judgement.findings.empty() && !judgement.could_see)
    return refused(
        fmt::format("each pair has too few times ({}) for their scatter; take more sizes, or -N 5",
                    fits.front().takes));
  return judgement;
}

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
    if (row.first_measured().seconds <= 0) continue;
    const std::string title = fmt::format("{} B {}", row.bytes, name(row.type));
    auto series =
        std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.title == title; });
    if (series == all.end()) series = all.insert(all.end(), Series{title, {}, {}});
    const RankPair pair = ascending(row);
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
  if (!judgement.note.empty()) return {"no rank is named: " + judgement.note};
  if (judgement.findings.empty() && !judgement.could_see) return {};
  std::vector<std::string> answers;
  const std::vector<PairFinding>& findings = judgement.findings;
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i)
    answers.push_back(finding_text(findings[i]));
  if (findings.empty())
    answers.push_back(fmt::format(
        "no rank stands out; one that takes {:.2f} x the others' time at all sizes would have been seen",
        *judgement.could_see));
  if (findings.size() > most) answers.push_back(fmt::format("and {} more", findings.size() - most));
  answers.back() += "; ccl_acceptance confirms hosts by repeated measurements";
  return answers;
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
