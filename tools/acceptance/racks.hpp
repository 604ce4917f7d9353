// Rounds of hosts in racks. A rack's uplink carries less than its hosts together, so that a random
// round measures uplinks: rounds inside racks tell of hosts, rounds between racks of uplinks.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/schedule.hpp"

namespace ccl_tests::acceptance {

// The hosts of each rack.
using Racks = std::vector<std::vector<int>>;

// Rounds whose pairs lie inside racks. Each rack plays its own tournaments.
class IntraRackRounds {
 public:
  IntraRackRounds(const Racks& racks, Random& random);
  Round next();

 private:
  std::vector<Tournaments> racks_;
};

// Rounds whose pairs lie between racks. Each rack meets exactly one other rack at a time, with
// 1 / `oversubscription` of its hosts at a time, so that no uplink carries more than it can. An
// odd number of racks leaves one idle.
class InterRackRounds {
 public:
  // Throws UsageError if `oversubscription` is below 1.
  InterRackRounds(Racks racks, double oversubscription, Random& random);
  // Returns an empty round if there are less than two racks.
  Round next();

 private:
  void draw();

  Racks racks_;
  std::size_t parts_;
  Random& random_;
  Tournaments matchings_;
  std::vector<Round> left_;
};

}  // namespace ccl_tests::acceptance
