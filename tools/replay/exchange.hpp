// What the ranks of a replay tell each other of their traces before anything runs.
#pragma once

#include "src/core/capabilities.hpp"
#include "src/core/control_channel.hpp"
#include "tools/replay/order.hpp"
#include "tools/replay/report.hpp"

namespace ccl_tests::replay {

// Returns what rank 0 found. Waits without a limit for it. Collective over all ranks.
std::vector<TracePlace> exchange_places(ControlChannel& world,
                                        const std::vector<TracePlace>& places);

// Returns the groups of all ranks' traces. Waits without a limit for ranks that still read. Collective over all ranks.
JobGroups exchange_groups(ControlChannel& world, const RankTrace& trace);

// Makes the calls of a plan such that the library takes them: moves types that the library lacks as bytes, and drops
// reductions that it does not have.
void adapt(RankPlan& plan, const Capabilities& library, Outcome& outcome);

// Takes out of a plan what ranks do not share. Returns which groups have calls. Throws Error with Exit::inconclusive if the ranks'
// calls disagree. Collective over all ranks.
std::vector<bool> exchange_calls(ControlChannel& world, const JobGroups& groups, RankPlan& plan,
                                 double limit_s);

// Throws Error with Exit::inconclusive if calls of the ranks wait for each other for ever. Returns
// on rank 0 which ones do unless the library buffers; empty: none. Collective over all ranks.
std::string exchange_order(ControlChannel& world, const JobGroups& groups, const RankPlan& plan,
                           double limit_s);

// Throws what exchange_order() throws for a cycle(); empty: nothing.
void require_order(const std::string& cycle);
// Throws what exchange_calls() throws for a disagreement.
void require_agreement(const Agreement& agreement);

}  // namespace ccl_tests::replay
