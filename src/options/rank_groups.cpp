#include "src/options/rank_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

constexpr const char* accepted =
    "accepted: mod N, div N, and N, or N (also %N /N &N |N; N decimal, 0x.. or 0b..), "
    "ranks 0,2;1,3 or local";

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError(fmt::format("{} is no grouping; {}", quote(text), accepted));
}

struct Operator {
  std::string_view word, symbol;
  SplitRule::By by;
};
constexpr Operator operators[] = {{"mod", "%", SplitRule::By::remainder},
                                  {"div", "/", SplitRule::By::quotient},
                                  {"and", "&", SplitRule::By::bit_and},
                                  {"or", "|", SplitRule::By::bit_or}};

std::optional<std::uint64_t> parse_digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_operand(std::string_view text) {
  if (text.starts_with("0x")) return parse_digits(text.substr(2), 16);
  if (text.starts_with("0b")) return parse_digits(text.substr(2), 2);
  return parse_digits(text, 10);
}

std::vector<std::vector<int>> parse_lists(const std::string& text) {
  std::vector<std::vector<int>> lists;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    std::vector<int>& list = lists.emplace_back();
    for (const std::string& item : split_list(text.substr(begin, end - begin)))
      list.push_back(parse_int(item, 0, max_int));
    begin = end + 1;
  }
  return lists;
}

std::uint64_t color_of(const SplitRule& grouping, std::uint64_t rank) {
  switch (grouping.by) {
    case SplitRule::By::remainder: return rank % grouping.operand;
    case SplitRule::By::quotient: return rank / grouping.operand;
    case SplitRule::By::bit_and: return rank & grouping.operand;
    case SplitRule::By::bit_or: return rank | grouping.operand;
    case SplitRule::By::nothing:
    case SplitRule::By::lists:
    case SplitRule::By::host: break;
  }
  return 0;
}

void check_lists(const std::vector<std::vector<int>>& lists, int ranks) {
  std::set<int> seen;
  for (const auto& list : lists) {
    for (const int rank : list) {
      if (rank >= ranks)
        throw UsageError(
            fmt::format("--group: there is no rank {}; accepted: 0 to {}", rank, ranks - 1));
      if (!seen.insert(rank).second)
        throw UsageError(
            fmt::format("--group: rank {} is named twice; accepted: every rank once", rank));
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (!seen.contains(rank))
      throw UsageError(fmt::format(
          "--group: rank {} of {} is in no group; accepted: every rank once", rank, ranks));
  }
}

std::vector<std::vector<int>> members_of(const SplitRule& grouping,
                                         const std::vector<std::string>& hosts) {
  if (grouping.by == SplitRule::By::lists) {
    check_lists(grouping.lists, static_cast<int>(hosts.size()));
    return grouping.lists;
  }
  std::map<std::string, std::uint64_t> numbers;  // of hosts
  std::map<std::uint64_t, std::vector<int>> by_color;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const std::uint64_t color = grouping.by == SplitRule::By::host
                                    ? numbers.emplace(hosts[r], numbers.size()).first->second
                                    : color_of(grouping, r);
    by_color[color].push_back(static_cast<int>(r));
  }
  std::vector<std::vector<int>> members;
  for (auto& [color, list] : by_color) members.push_back(std::move(list));
  return members;
}

RankPair parse_pair(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw UsageError(
        fmt::format("{} is no pair; accepted: RANK:RANK, for example 0:1, or all", quote(text)));
  const RankPair pair{parse_int(text.substr(0, colon), 0, max_int),
                      parse_int(text.substr(colon + 1), 0, max_int)};
  if (pair.first == pair.second)
    throw UsageError(fmt::format("{} pairs a rank with itself; accepted: two ranks", quote(text)));
  return pair;
}

void check_pairs(const std::vector<RankPair>& list, bool concurrent, int ranks) {
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

SplitRule parse_split_rule(const std::string& text) {
  const auto is = [](int (*kind)(int), char c) { return kind(static_cast<unsigned char>(c)) != 0; };
  std::string word;  // small letters, no blanks; of two words only "mod 2" may become one
  bool blank = false;
  for (const char c : text) {
    if (is(std::isspace, c)) {
      blank = true;
      continue;
    }
    if (blank && !word.empty() && is(std::isalnum, word.back()) && is(std::isalnum, c) &&
        !(is(std::isalpha, word.back()) && is(std::isdigit, c)))
      refuse(text);
    blank = false;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (word == "local") return {SplitRule::By::host, 0, {}, text};
  if (word.starts_with("ranks"))
    return {SplitRule::By::lists, 0, parse_lists(word.substr(5)), text};
  for (const Operator& op : operators) {
    const bool by_word = word.starts_with(op.word);
    if (!by_word && !word.starts_with(op.symbol)) continue;
    const auto operand = parse_operand(word.substr(by_word ? op.word.size() : op.symbol.size()));
    if (!operand) refuse(text);
    const bool divides = op.by == SplitRule::By::remainder || op.by == SplitRule::By::quotient;
    if (divides && *operand == 0)
      throw UsageError(fmt::format("{} divides by 0; accepted: 1 and above", quote(text)));
    return {op.by, *operand, {}, text};
  }
  refuse(text);
}

SplitRule parse_split_mask(const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  const auto mask = parse_digits(digits, 16);
  if (!mask)
    throw UsageError(fmt::format("{} is no mask; accepted: hexadecimal digits", quote(text)));
  return {SplitRule::By::bit_and, *mask, {}, fmt::format("and 0x{:x}", *mask)};
}

RankGroups::RankGroups(const SplitRule& grouping, const std::vector<std::string>& hosts)
    : RankGroups(members_of(grouping, hosts), static_cast<int>(hosts.size())) {}

RankGroups::RankGroups(std::vector<std::vector<int>> members, int ranks)
    : members_(std::move(members)),
      group_of_(static_cast<std::size_t>(ranks), -1),
      rank_in_group_(static_cast<std::size_t>(ranks), 0) {
  for (std::size_t g = 0; g < members_.size(); ++g)
    for (std::size_t i = 0; i < members_[g].size(); ++i) {
      const auto rank = static_cast<std::size_t>(members_[g][i]);
      group_of_[rank] = static_cast<int>(g);
      rank_in_group_[rank] = static_cast<int>(i);
    }
}

std::vector<int> RankGroups::distinct_sizes() const {
  std::set<int> sizes;
  for (const auto& list : members_) sizes.insert(static_cast<int>(list.size()));
  return {sizes.begin(), sizes.end()};
}

bool RankGroups::is_world() const {
  return number() == 1 && ranks_of(0) == ranks() &&
         std::is_sorted(members(0).begin(), members(0).end());
}

int RankGroups::smallest() const { return distinct_sizes().front(); }

std::string RankGroups::describe() const {
  const std::vector<int> sizes = distinct_sizes();
  const std::string ranks = sizes.size() == 1
                                ? fmt::format("{}", sizes.front())
                                : fmt::format("{} to {}", sizes.front(), sizes.back());
  return fmt::format("{} group{} of {} rank{}", number(), number() == 1 ? "" : "s", ranks,
                     ranks == "1" ? "" : "s");
}

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
  if (!pairing.all) check_pairs(pairing.list, concurrent, ranks);
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
