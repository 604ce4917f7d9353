// What an acceptance run looks at, one after the other. Each is called on rank 0 while the other ranks
// follow (Team), adds its checks to the journal, and throws what the library, a peer or a limit throws.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

struct Context {
  Team& team;
  const Plan& plan;
  const Hosts& hosts;
  Journal& journal;
  std::uint64_t seed;  // of schedules
};

// Are the hosts alike in what the plan says has to be the same?
void compare_hosts(Context& context);
// Is every program right, on each of its types, at odd sizes?
void check_programs(Context& context);
// Of each host its rack's number, from 0; empty: racks are not known. Throws UsageError for a host that is in
// none or in two, and for one that has no other host of the job in its rack.
std::vector<int> racks_of(const Plan& plan, const Hosts& hosts);

// Each host alone, all at once: does each reach its limits?
void measure_nodes(Context& context);
// Messages between hosts: which host or link is slow, does the wire carry what it says, and was it that
// wire? later: what is looked at between two confirmations, of which only hosts that are blamed have two.
void measure_pairs(Context& context, const std::function<void()>& later);
// The same between the other ranks of each host, which may have wires of their own: is one of them slow, on a host or
// everywhere?
void measure_rails(Context& context);
// Whether measure_rails() has anything to look at.
bool has_rails(const Plan& plan, const Hosts& hosts, bool gpus);
// These hosts together, at all sizes. stage: "full", or "rest" without those that are blamed.
void measure_all(Context& context, const std::string& stage, const std::vector<int>& hosts);
// From two hosts to all: where does it stop to scale?
void measure_scaling(Context& context, const std::vector<int>& hosts);
// For a time, every result verified.
void soak(Context& context);

}  // namespace ccl_tests::acceptance
