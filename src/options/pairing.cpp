#include "src/options/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

RankPair parse_pair(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw UsageError(
        fmt::format("{} is no pair; accepted: RANK:RANK, for example 0:1, or all", quote(text)));
  const auto rank = [](const std::string& word) {
    return parse_int(word, 0, std::numeric_limits<int>::max());
  };
  const RankPair pair{rank(text.substr(0, colon)), rank(text.substr(colon + 1))};
  if (pair.first == pair.second)
    throw UsageError(fmt::format("{} pairs a rank with itself; accepted: two ranks", quote(text)));
  return pair;
}

void check_list(const std::vector<RankPair>& list, bool concurrent, int ranks) {
  std::set<int> used;
  for (const RankPair& pair : list) {
    for (const int rank : {pair.first, pair.second}) {
      if (rank >= ranks)
        throw UsageError(
            fmt::format("--pairs: there is no rank {}; accepted: 0 to {}", rank, ranks - 1));
      if (!used.insert(rank).second && concurrent)
        throw UsageError(fmt::format(
            "--pairs: rank {} is in more than one pair; accepted with --concurrent 1: once", rank));
    }
  }
}

// Every pair once in as few rounds as there are: rank n - 1 stays, the others go round it (the
// circle method of tournaments). An odd number of ranks is filled up with one that nobody meets.
std::vector<PairRound> tournament(int ranks) {
  const int circle = ranks % 2 == 0 ? ranks - 1 : ranks;
  std::vector<PairRound> rounds;
  for (int turn = 0; turn < circle; ++turn) {
    PairRound& round = rounds.emplace_back();
    if (circle < ranks) round.push_back({turn, circle});
    for (int distance = 1; distance <= circle / 2; ++distance) {
      const int ahead = (turn + distance) % circle;
      const int behind = (turn + circle - distance) % circle;
      round.push_back({std::min(ahead, behind), std::max(ahead, behind)});
    }
  }
  return rounds;
}

}  // namespace

Pairing parse_pairs(const std::string& text) {
  Pairing pairing;
  pairing.all = text == "all";
  pairing.list.clear();
  if (pairing.all) return pairing;
  std::set<RankPair> seen;
  for (const std::string& item : split_list(text)) {
    const RankPair& pair = pairing.list.emplace_back(parse_pair(item));
    if (!seen.insert(std::minmax(pair.first, pair.second)).second)
      throw UsageError(fmt::format("{} is named twice; accepted: every pair once", quote(item)));
  }
  return pairing;
}

std::vector<PairRound> pair_rounds(const Pairing& pairing, bool concurrent, int ranks) {
  if (ranks < 2) throw Unsupported("messages between two ranks need at least two; this job has 1");
  if (!pairing.all) check_list(pairing.list, concurrent, ranks);
  std::vector<PairRound> at_once =
      pairing.all ? tournament(ranks) : std::vector<PairRound>{pairing.list};
  if (concurrent) return at_once;
  std::vector<PairRound> rounds;
  for (const PairRound& round : at_once)
    for (const RankPair& pair : round) rounds.push_back({pair});
  return rounds;
}

RankGroups as_groups(const PairRound& round, int ranks) {
  std::vector<std::vector<int>> members;
  for (const RankPair& pair : round) members.push_back({pair.first, pair.second});
  return {std::move(members), ranks};
}

}  // namespace ccl_tests
