// Uplinks of racks: slow for all hosts of a rack, but only to other racks.
#pragma once

#include <vector>

#include "tools/acceptance/search/findings.hpp"
#include "tools/acceptance/search/schedule.hpp"

namespace ccl_tests::acceptance {

// Returns the racks of which at least half of the hosts are suspects of rounds between racks and
// fewer than half are suspects of rounds inside racks. Ascending.
std::vector<int> suspected_uplinks(const Racks& racks, const Screen& inside, const Screen& between);

struct UplinkSearch {
  std::vector<UplinkFinding> named;
  std::size_t rounds = 0;
};

// Measures rounds between racks until each host sent in `matchings` of them. Names a rack's uplink
// if these and two more such series suspect it; its size is that of the last two. Needs 4 racks:
// of three racks two measure each other while one is idle, and nothing is compared.
UplinkSearch find_uplinks(PairMeasurer& measurer, const Racks& racks, double oversubscription,
                          std::size_t matchings, const Screen& inside, const Limits& limits,
                          Random& random);

}  // namespace ccl_tests::acceptance
