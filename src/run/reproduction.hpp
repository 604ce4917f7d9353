// What the ranks of a row found when they repeated its reduction (--reproducible), and what follows from
// it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// What two calls differ in whose results are compared. orders: in which rank has which data.
enum class Between { calls, ranks, placements, alignments, orders };
inline constexpr std::array between_names = {"calls", "ranks", "placements", "alignments",
                                             "orders"};

// The first element in which two results differ.
struct BitDifference {
  std::uint64_t index = 0;     // of the rank's receive buffer
  std::uint64_t distance = 0;  // units in the last place; of integers their difference
  std::string values;          // "0.5 (0x3f000000) and 0.25 (0x3e800000)"
};

// One rank's findings.
struct RankReproduction {
  std::string digest;  // of the first call's result; empty: this rank receives nothing
  std::uint64_t calls = 0;
  bool orders_tried = false;
  std::map<Between, BitDifference> differences;
};

std::string to_text(const RankReproduction& found);
RankReproduction rank_reproduction(std::string_view text);  // throws Error

// Returns what the findings of a group's ranks say together. found: of all ranks of the world; members: those of the
// group.
// nullopt: none of them receives anything.
std::optional<Reproduction> reproduction_of(const std::vector<RankReproduction>& found,
                                            const std::vector<int>& members);

// Returns what stands for all groups of a row: the least reproducible one.
Reproduction combined(const std::vector<Reproduction>& groups);

}  // namespace ccl_tests
