// Can the calls of all ranks be made one after the other, as ccl_replay makes them? Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/replay/plan.hpp"

namespace ccl_tests::replay {

// Returns where each step of a rank's calls ends. A step is complete before the next one: it is a collective, or messages
// of a group that follow each other, so that none waits for one behind it.
std::vector<std::uint32_t> ends_of_steps(const RankPlan& plan);

// Returns "recv of 5 float, group '0' (ranks 0-1), group rank 1".
std::string text_of(const PlannedKind& kind, const JobGroup& group);

// A call of a rank. It cannot end before other ranks have begun as many calls, whatever the library.
struct OrderedCall {
  StreamKey own = {};                     // of a collective: from and to are this rank
  std::optional<StreamKey> awaited = {};  // the calls of one other rank
  bool awaits_all = false;                // those of all ranks of the group
  std::string text = {};
};
struct RankOrder {
  std::vector<OrderedCall> kinds;
  std::vector<std::uint32_t> calls, ends;  // kinds; of steps
};
RankOrder order_of(const RankPlan& plan, const std::vector<JobGroup>& groups);

// Returns which ranks' calls wait for each other for ever; empty: none do. buffered: the library ends calls of ranks
// that receive nothing before their peers come. Otherwise they wait.
std::string cycle(const std::vector<RankOrder>& ranks, const std::vector<JobGroup>& groups,
                  bool buffered);

}  // namespace ccl_tests::replay
