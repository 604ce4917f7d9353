// The search from its first rounds to the names of hosts and links.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"

namespace ccl_tests::acceptance {

struct SearchPlan {
  double slowdown = 0.10;  // fraction that has to be found; about half of its effect may be named
  std::uint64_t seed = 1;  // of the schedule
  bool links = false;      // look for bad links, which takes a full tournament
  // The racks, by number of the host; empty: one rack. Racks are numbered from 0. Hosts are then
  // compared by pairs inside racks, and uplinks by pairs between racks.
  std::vector<int> rack_of = {};
  // Called between the two confirmations. What takes minutes belongs here: hosts that are slow for
  // a while are then not blamed.
  std::function<void()> later = {};
  Limits limits = {};
};

// Finds the bad ones of the hosts 0 to `hosts` - 1. Rounds are measured one after the other. Throws what `measurer`
// throws.
Findings find_bad_hosts(PairMeasurer& measurer, int hosts, const SearchPlan& plan);

}  // namespace ccl_tests::acceptance
