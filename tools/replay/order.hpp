// Can the calls of all ranks be made one after the other, as ccl_replay makes them? Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/replay/plan.hpp"

namespace ccl_tests::replay {

// Returns where each step of a rank's calls ends. A step is complete before the next one: it is a
// collective, or messages of a group that follow each other, so that none waits for one behind it.
std::vector<std::uint32_t> ends_of_steps(const RankPlan& plan);

// Returns "recv of 5 float, group '0' (ranks 0-1), group rank 1".
std::string text_of(const PlannedKind& kind, const JobGroup& group);

// Returns which ranks' calls wait for each other for ever; empty: none do. buffered: the library
// ends calls of ranks that receive nothing before their peers come. Otherwise they wait.
std::string cycle(const std::vector<RankPlan>& ranks, const std::vector<JobGroup>& groups,
                  bool buffered);

}  // namespace ccl_tests::replay
