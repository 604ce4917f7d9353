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
  // The racks, from 0, by number of the host; empty: one. Pairs inside racks compare hosts, those between them uplinks.
  std::vector<int> rack_of = {};
  // Called between two confirmations, for minutes: hosts that are slow for a while are then not blamed.
  std::function<void()> later = {};
};

// Finds the bad ones of the hosts 0 to `hosts` - 1. Throws what `measurer` throws.
Findings find_bad_hosts(PairMeasurer& measurer, int hosts, const SearchPlan& plan);

}  // namespace ccl_tests::acceptance
