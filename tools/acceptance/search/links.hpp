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

// Returns the pairs whose residuals stand out of `fit` of `seen`, largest first, at most two a
// host. A pair stands out if the mean of both directions is above 2.8 standard deviations and
// `smallest`, and each direction above one; otherwise one direction alone may stand out, above 4.
// Pairs with a host of `without` are left out: bad hosts are slow with everyone.
std::vector<LinkCandidate> link_candidates(std::span<const Observation> seen, const Effects& fit,
                                           const std::set<int>& without, const Limits& limits);

struct LinkSearch {
  std::vector<LinkFinding> named;
  std::size_t open = 0;  // candidates that were neither named nor cleared
};

// Measures the candidates anew beside `good` hosts as controls: 4 times, then those that are still
// above 2 standard errors 8 times, twice as often if one way. Names a candidate whose second median
// is above the quantile of 1e-3 over the candidates, and whose medians are both at least
// `smallest`. `fit` gives the effects of the hosts.
LinkSearch confirm_links(PairMeasurer& measurer, const std::vector<LinkCandidate>& candidates,
                         const std::vector<int>& good, const Effects& fit, const Limits& limits,
                         Random& random);

// Sets the sizes of named links anew, by hosts' effects that a fit of `seen` without them has: of few hosts, a slow link is much of what
// its ends do. `fit` is what named them. Where a host would lose half of its observations they stay in. hosts: as in fit_effects().
void size_by_the_rest(std::vector<LinkFinding>& named, std::span<const Observation> seen,
                      const Effects& fit, std::size_t hosts);

// Measures `fewest_rounds` rounds between racks. A rack is suspected if at least half of its hosts are suspects of these
// rounds and fewer than half are suspects of rounds `inside` racks. Names a rack's uplink if these and two more such
// series suspect it; its size is that of the last two. Needs 4 racks: of three racks two measure each other while one
// is idle, and nothing is compared.
std::vector<UplinkFinding> find_uplinks(PairMeasurer& measurer, const Racks& racks,
                                        const Screen& inside, const Limits& limits, Random& random);

}  // namespace ccl_tests::acceptance
