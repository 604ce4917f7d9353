// Which host makes a set of hosts slow that is slow only as a whole: faults that show at scale.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {

// Returns how often a set of hosts has to be measured so that the median tells a slowdown by the
// fraction `slowdown` from none: (8.3 sigma / -ln(1 - slowdown))^2. `sigma` is the standard
// deviation of ln(seconds) of one measurement.
std::size_t repeats_per_test(double sigma, double slowdown);

// Returns whether the hosts together are as fast as they should be.
using SetTest = std::function<bool(const std::vector<int>& hosts)>;

struct PrefixFindings {
  std::vector<int> named;      // bad hosts; empty if none could be told from the others
  std::size_t fails_from = 0;  // hosts of the smallest set that failed; 0 if none did
};

// Finds hosts without which `hosts` pass. Each try puts the hosts in random order, finds the
// smallest prefix that fails by halving, and names its last host if the prefix passes with another
// host in its place and fails with it again. At most 40 tries.
PrefixFindings prefix_search(const SetTest& passes, std::vector<int> hosts, Random& random);

}  // namespace ccl_tests::acceptance
