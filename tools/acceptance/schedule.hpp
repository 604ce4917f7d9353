// Which hosts measure each other at the same time. All ranks compute the schedule from a seed.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/random.hpp"

namespace ccl_tests::acceptance {

// Two hosts that send to each other: first a to b, then b to a.
struct HostPair {
  int a = 0, b = 0;
};

// Pairs that measure at the same time. A host is in at most one pair of a round.
using Round = std::vector<HostPair>;

// Returns the rounds of a full tournament by the circle method: `hosts` - 1 rounds of hosts / 2
// pairs of 0 to hosts - 1, in which each pair occurs once. An odd number of hosts has `hosts`
// rounds, in each of which another host is idle. Returns no rounds of less than two hosts.
std::vector<Round> circle(int hosts);

// An endless series of rounds: full tournaments one after the other, in each of which hosts are
// relabelled at random and rounds are in random order.
class Tournaments {
 public:
  Tournaments(std::vector<int> hosts, Random& random);
  // Returns an empty round if there are less than two hosts.
  Round next();

 private:
  std::vector<int> hosts_;
  Random& random_;
  std::vector<Round> left_;
};

}  // namespace ccl_tests::acceptance
