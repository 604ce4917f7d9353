#include "src/judge/pair_judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/judge/pair_band.hpp"
#include "src/measure/statistics.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

// Chosen with tests/unit/pair_power_test.cpp.
constexpr double smallest = 0.0953;    // effect worth naming: ln 1.1
constexpr double least_scale = 0.005;  // effect that machines without noise may differ by
constexpr double by_chance = 5e-4;     // of runs, for all ranks; as many for all links
constexpr std::size_t fewest_units = 4, fewest_for_links = 6;
constexpr double power = 1.645;    // 95 of 100
constexpr double most_told = 4.6;  // effect that is worth saying that it would be seen: ln 100

// Standard errors that a named rank is beyond the others. Few pairs know the error badly.
double rank_errors(std::size_t ranks) { return ranks >= 6 ? 6 : ranks == 5 ? 8 : 12; }

// Standard deviations that a named pair is beyond its ranks.
double link_errors(std::size_t ranks) { return ranks >= 8 ? 12 : 20; }

// The pair, and those that it is compared with.
struct Compared {
  PairTable table;
  std::vector<std::string> hosts;  // by rank
  std::size_t ranks = 0;
  std::size_t units = 0;  // hosts, or ranks on one host
  const char* unit = "ranks";

  const std::string& host(int rank) const { return hosts.at(static_cast<std::size_t>(rank)); }
  // Returns how many units these ranks belong to.
  std::size_t units_of(const std::set<int>& some) const {
    if (units == ranks) return some.size();
    std::set<std::string> names;
    for (const int rank : some) names.insert(host(rank));
    return names.size();
  }
};

Compared compared(const PairTable& all, const std::vector<std::string>& hosts) {
  std::set<int> ranks;
  for (const RankPair& pair : all.pairs) ranks.insert({pair.first, pair.second});
  Compared found{all, hosts, ranks.size(), ranks.size()};
  found.hosts.resize(std::max(hosts.size(), static_cast<std::size_t>(*ranks.rbegin()) + 1), "?");
  std::set<std::string> names;
  for (const int rank : ranks) names.insert(found.host(rank));
  if (names.size() < 2) return found;
  found.table = between_hosts(all, hosts);
  found.units = names.size();
  found.unit = "hosts";
  return found;
}

// One band, and what is asked of ranks and links in it.
struct Judged {
  SizeBand band;
  BandFit fit;
  double rank_quantile = 0, link_quantile = 0;

  double scale(std::size_t rank) const {
    return std::max({fit.error[rank], fit.spread, least_scale});
  }
};

std::vector<Judged> judged_bands(const Compared& all) {
  std::vector<Judged> found;
  const std::vector<SizeBand> bands = bands_of(all.table);
  const auto number = static_cast<double>(bands.size());
  for (const SizeBand& band : bands) {
    const auto pairs = static_cast<double>(all.table.pairs.size());
    found.push_back({band, fit_band(all.table, band),
                     normal_quantile_above(by_chance / number / static_cast<double>(all.ranks)),
                     normal_quantile_above(by_chance / number / pairs)});
  }
  return found;
}

bool rank_stands_out(const Judged& in, std::size_t rank, std::size_t ranks) {
  const double effect = in.fit.effect[rank];
  return effect >= smallest && effect >= rank_errors(ranks) * in.scale(rank) &&
         in.fit.rank_z[rank] >= in.rank_quantile;
}

bool link_stands_out(const Judged& in, std::size_t pair, std::size_t ranks) {
  const double effect = in.fit.residual[pair];
  return effect >= smallest && effect >= link_errors(ranks) * std::max(in.fit.sigma, least_scale) &&
         in.fit.link_z[pair] >= in.link_quantile;
}

// Returns the band with outer sizes at which the rank is slow by half as much, and no others.
SizeBand fitted_sizes(const PairTable& table, int rank, const SizeBand& band, double effect) {
  const std::vector<std::size_t> sizes = sizes_of(table);
  const std::vector<double> effects = effects_by_size(table, rank, sizes);
  const auto slow = [&](std::size_t i) { return effects[i] >= effect / 2; };
  const auto place = [&](std::size_t bytes) {
    return static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  };
  std::size_t first = place(band.first), last = place(band.last);
  while (first > 0 && slow(first - 1)) --first;
  while (last + 1 < sizes.size() && slow(last + 1)) ++last;
  while (first < last && !slow(first)) ++first;
  while (first < last && !slow(last)) --last;
  return {sizes[first], sizes[last]};
}

void set_ratio(PairFinding& finding, double effect, double error, std::size_t degrees) {
  const double half = student(std::max<std::size_t>(degrees, 1)) * std::max(error, least_scale);
  finding.ratio = std::exp(effect);
  finding.low = std::exp(effect - half);
  finding.high = std::exp(effect + half);
}

PairFinding rank_finding(const Compared& all, int rank, const Judged& in) {
  const auto r = static_cast<std::size_t>(rank);
  PairFinding finding{.rank = rank, .pair = {}, .host = all.host(rank)};
  const SizeBand band = fitted_sizes(all.table, rank, in.band, in.fit.effect[r]);
  const BandFit fit = fit_band(all.table, band);
  finding.first_bytes = band.first;
  finding.last_bytes = band.last;
  set_ratio(finding, fit.effect[r], fit.error[r], all.table.pairs.size() - all.ranks);
  return finding;
}

PairFinding link_finding(const Compared& all, std::size_t p, const Judged& in) {
  const RankPair pair = all.table.pairs[p];
  PairFinding finding{.rank = {}, .pair = pair, .host = all.host(pair.first)};
  if (all.host(pair.second) != finding.host) finding.host += ", " + all.host(pair.second);
  finding.first_bytes = in.band.first;
  finding.last_bytes = in.band.last;
  set_ratio(finding, in.fit.residual[p], in.fit.sigma, all.table.pairs.size() - all.ranks);
  return finding;
}

// In the widest band that shows it.
std::vector<PairFinding> slow_ranks(const Compared& all, const std::vector<Judged>& bands) {
  std::vector<PairFinding> found;
  for (std::size_t rank = 0; rank < bands.front().fit.effect.size(); ++rank) {
    const auto in = std::find_if(bands.begin(), bands.end(), [&](const Judged& band) {
      return rank_stands_out(band, rank, all.ranks);
    });
    if (in != bands.end()) found.push_back(rank_finding(all, static_cast<int>(rank), *in));
  }
  return found;
}

std::vector<PairFinding> slow_links(const Compared& all, const std::vector<Judged>& bands,
                                    const std::set<int>& slow) {
  std::vector<PairFinding> found;
  for (std::size_t p = 0; p < all.table.pairs.size(); ++p) {
    const auto [a, b] = all.table.pairs[p];
    if (slow.contains(a) || slow.contains(b)) continue;
    const auto in = std::find_if(bands.begin(), bands.end(), [&](const Judged& band) {
      return link_stands_out(band, p, all.ranks);
    });
    if (in != bands.end()) found.push_back(link_finding(all, p, *in));
  }
  return found;
}

// Returns the smallest effect found in about nine of ten runs; nullopt if takes are too few.
std::optional<double> detectable(const Judged& in, std::size_t ranks, std::size_t pairs) {
  std::optional<double> largest;
  const auto takes = static_cast<double>(in.fit.takes);
  for (std::size_t rank = 0; rank < in.fit.effect.size(); ++rank) {
    if (!std::isfinite(in.fit.error[rank])) return std::nullopt;
    if (in.fit.largest_z[rank] < in.rank_quantile) return std::nullopt;
    // A rank's pairs have to be slower than others often enough.
    const auto all = static_cast<double>(pairs);
    const double own = 2 * all / static_cast<double>(ranks);
    const double z = (in.rank_quantile + power) / std::sqrt(takes);
    const double share = 0.5 + z * std::sqrt((all + 1) / (12 * own * std::max(1.0, all - own)));
    const double slower =
        in.fit.take_sigma * std::sqrt(2) * normal_quantile_above(1 - std::min(share, 0.99));
    // The rest that the fit leaves of few pairs is a rough estimate of the error.
    const double doubt = 1.15 + 2 / (all - static_cast<double>(ranks));
    const double by_error =
        doubt * (rank_errors(ranks) * in.scale(rank) + power * in.fit.error[rank]);
    // An effect at the limit itself is found half the time.
    const double needed = std::max({1.3 * smallest, by_error, slower});
    largest = std::max(largest.value_or(0), needed);
  }
  return largest;
}

PairJudgement refused(std::string why) { return {{}, {}, std::move(why)}; }

}  // namespace

PairJudgement judge_pairs(const std::vector<Row>& rows, const std::vector<std::string>& hosts) {
  const PairTable table = pair_table(rows);
  if (table.pairs.size() < 2) return {};
  const Compared all = compared(table, hosts);
  if (table.pairs.size() < all.ranks * (all.ranks - 1) / 2)
    return refused("only --pairs all, when it reaches its end, measures every two ranks");
  if (all.units < fewest_units)
    return refused(fmt::format("{} {} are too few to tell whose messages are slow; {} are enough",
                               all.units, all.unit, fewest_units));
  const std::vector<Judged> bands = judged_bands(all);
  if (bands.empty()) return refused("no size was measured between every two ranks");
  PairJudgement judgement;
  if (all.units < fewest_for_links)
    judgement.note =
        fmt::format("of {} {} at most one can be named, and no link", all.units, all.unit);
  const auto effect = detectable(bands.front(), all.ranks, all.table.pairs.size());
  if (!effect)
    return refused(fmt::format("each pair has too few times ({}); take more sizes, or -N 5",
                               bands.front().fit.takes));
  if (*effect < most_told)
    judgement.could_see = std::exp(*effect);
  else
    judgement.note = "the times scatter so much that one at 100 x the others' would hardly be seen";
  judgement.findings = slow_ranks(all, bands);
  std::set<int> slow;
  for (const PairFinding& finding : judgement.findings) slow.insert(*finding.rank);
  const std::size_t most = all.units < 6 ? 1 : all.units / 3;
  if (const std::size_t units = all.units_of(slow); units > most)
    return refused(fmt::format("{} of {} {} stand out, too many to tell which of them are slow",
                               units, all.units, all.unit));
  if (all.units >= fewest_for_links)
    for (PairFinding& link : slow_links(all, bands, slow))
      judgement.findings.push_back(std::move(link));
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
