// Checks whether a library gives the same bits again: a row's reduction, repeated on data whose
// result depends on the order of additions (--reproducible).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/job/rank.hpp"
#include "src/run/operation_workload.hpp"

namespace ccl_tests {

class Communicator;

// The difference between two calls whose results are compared. orders: in which rank has which
// data.
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

// Returns what the findings of a group's ranks say together; nullopt if none of them receives
// anything. found: of all ranks of the world; members: of the group. Pure.
std::optional<Reproduction> reproduction_of(const std::vector<RankReproduction>& found,
                                            const std::vector<int>& members);

// Returns what stands for all groups of a row: the least reproducible one. Pure.
Reproduction combined(const std::vector<Reproduction>& groups);

// The things that the check works with. All must outlive it.
struct ReproductionSetup {
  Rank& rank;
  ControlChannel& group;  // of the ranks that make a call together
  Communicator& communicator;
  Operation& operation;
  const Arena& arena;
  Slots slots;  // of the row; the first is used
  WaitLimits limits;
  std::uint64_t seed;
};

// Returns on rank 0 what each rank of the world found, elsewhere nothing. Collective over all
// ranks. Throws what the library or a peer throws.
std::vector<RankReproduction> reproduce(const Problem& problem, const ReproductionSetup& setup);

}  // namespace ccl_tests
