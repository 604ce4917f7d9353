// The search for bad hosts, links and uplinks as a whole: screen, two confirmations, verdicts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/acceptance/findings.hpp"
#include "tools/acceptance/measurer.hpp"

namespace ccl_tests::acceptance {

struct SearchPlan {
  double slowdown = 0.10;  // fraction that has to be found; about half of its effect may be named
  std::uint64_t seed = 1;  // of the schedule
  bool links = false;      // look for bad links, which takes a full tournament
  // The racks, by number of the host; empty: one rack. Racks are numbered from 0. Hosts are then
  // compared by pairs inside racks, and uplinks by pairs between racks.
  std::vector<int> rack_of;
  double oversubscription = 1;            // bandwidth of a rack's hosts / bandwidth of its uplink
  std::optional<double> longest_seconds;  // what an operation may take in the median
  // Called between the two confirmations. What takes minutes belongs here: hosts that are slow for
  // a while are then not blamed.
  std::function<void()> later;
  Limits limits;
};

// Finds the bad ones of `hosts`, which are different numbers from 0 on. Rounds are measured one
// after the other. Throws UsageError if `plan` contradicts itself, and what `measurer` throws.
Findings find_bad_hosts(PairMeasurer& measurer, const std::vector<int>& hosts,
                        const SearchPlan& plan);

}  // namespace ccl_tests::acceptance
