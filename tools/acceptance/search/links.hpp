// Links between two hosts that are slow while both hosts are not; and uplinks of racks, which are slow for all hosts of
// a rack, but only to other racks.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"

namespace ccl_tests::acceptance {

// A pair of hosts that stands out of the screen.
struct LinkCandidate {
  HostPair hosts;
  bool one_way = false;  // only hosts.a to hosts.b stands out
  double residual = 0;   // what hosts and rounds leave of its time, natural logarithm
};

// Returns the pairs whose residuals stand out of `fit` of `seen`, largest first, at most two a host. A pair stands out
// if the mean of both directions is above 2.8 standard deviations and `smallest`, and each direction above one; or one
// direction alone, above 4. Pairs with a host of `without` are left out: bad hosts are slow with everyone.
std::vector<LinkCandidate> link_candidates(std::span<const Observation> seen, const Effects& fit,
                                           const std::set<int>& without, double smallest);

struct LinkSearch {
  std::vector<LinkFinding> named;
  std::size_t open = 0;  // candidates that were neither named nor cleared
};

// Measures the candidates anew beside `good` hosts: 4 times, then those still above 2 standard errors 8 times, twice as
// often if one way. Names those whose second median is above the quantile of 1e-3 over the candidates, and whose
// medians are both at least `smallest`. `fit` gives the effects of the hosts.
LinkSearch confirm_links(PairMeasurer& measurer, const std::vector<LinkCandidate>& candidates,
                         const std::vector<int>& good, const Effects& fit, double smallest,
                         Random& random);

// Sets the sizes of links that `fit` named anew, by the hosts' effects in a fit of `seen` without them: of few hosts, a
// slow link is much of what its ends do. They stay in where a host would lose half of its observations.
void size_by_the_rest(std::vector<LinkFinding>& named, std::span<const Observation> seen,
                      const Effects& fit, std::size_t hosts);

// Measures `fewest_rounds` rounds between racks. A rack is suspected if at least half of its hosts are suspects of
// these and fewer than half of rounds `inside` racks. Names an uplink that these and two more such series suspect, with
// the size of the last two. Needs 4 racks: of three, two measure each other, and nothing is compared.
std::vector<UplinkFinding> find_uplinks(PairMeasurer& measurer, const Racks& racks,
                                        const Screen& inside, double smallest, Random& random);

}  // namespace ccl_tests::acceptance
