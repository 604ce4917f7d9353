// The groups that the ranks of a job form: --group, NCCL_TESTS_SPLIT, NCCL_TESTS_SPLIT_MASK; and the pairs that send
// messages to each other: --pairs, --concurrent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/call.hpp"

namespace ccl_tests {

// A rule, as the user gave it.
struct SplitRule {
  enum class By { nothing, remainder, quotient, bit_and, bit_or, lists, host };
  By by = By::nothing;
  std::uint64_t operand = 0;  // color = rank % operand, rank / operand, rank & operand, ...
  std::vector<std::vector<int>> lists;  // each group's ranks, in the order of their group ranks
  std::string text;                     // as given

  bool splits() const { return by != By::nothing; }
};

// "mod 2", "%2", "div 4", "and 0x7", "or 0b1", "ranks 0,2;3,1", "local". Throws UsageError.
SplitRule parse_split_rule(const std::string& text);
// NCCL_TESTS_SPLIT_MASK: hexadecimal with or without 0x; color = rank & mask. Throws UsageError.
SplitRule parse_split_mask(const std::string& text);

// The groups of one job. Group numbers follow the colors, lists or hosts in their order.
class RankGroups {
 public:
  // hosts: what names each rank's host, by rank. Throws UsageError for lists with a rank that does
  // not exist, is named twice, or is missing.
  RankGroups(const SplitRule& grouping, const std::vector<std::string>& hosts);
  // Splits a job of `ranks` ranks. Ranks that no list names are in no group: group_of is -1.
  RankGroups(std::vector<std::vector<int>> members, int ranks);

  int ranks() const { return static_cast<int>(group_of_.size()); }  // of the job
  int number() const { return static_cast<int>(members_.size()); }
  int group_of(int rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
  int rank_in_group(int rank) const { return rank_in_group_[static_cast<std::size_t>(rank)]; }
  int ranks_of(int group) const { return static_cast<int>(members(group).size()); }
  // Ranks of the job, in the order of their group ranks.
  const std::vector<int>& members(int group) const {
    return members_[static_cast<std::size_t>(group)];
  }
  bool is_world() const;                    // one group of all ranks in their own order
  int smallest() const;                     // ranks of the smallest group
  std::vector<int> distinct_sizes() const;  // ascending
  std::string describe() const;             // "2 groups of 4 ranks", "3 groups of 2 to 3 ranks"

 private:
  std::vector<std::vector<int>> members_;
  std::vector<int> group_of_, rank_in_group_;
};

struct Pairing {
  bool all = false;  // every rank with every other
  std::vector<RankPair> list = {{0, 1}};
};

// "all" or "0:1,2:3". Throws UsageError.
Pairing parse_pairs(const std::string& text);

// The pairs of a job in the order of their measurement; those of one round at the same time. All pairs come
// in the order of a tournament, in which every rank has its turn in each ranks / 2 pairs: a machine that is slow for
// a while slows a few pairs of many ranks, not all pairs of one. concurrent: not one after the other. Throws UsageError for ranks that do not exist or are needed
// twice at once, Unsupported for a job of one rank.
using PairRound = std::vector<RankPair>;
std::vector<PairRound> pair_rounds(const Pairing& pairing, bool concurrent, int ranks);

// Each pair as a group of a job of `ranks` ranks, the others in none.
RankGroups as_groups(const PairRound& round, int ranks);

}  // namespace ccl_tests
