// Links between two hosts that are slow while both hosts are not; and uplinks of racks, which are slow for all hosts of
// a rack, but only to other racks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/search/screen.hpp"

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
                                           const std::vector<int>& without, const Limits& limits);

struct LinkSearch {
  std::vector<LinkFinding> named;
  std::size_t open = 0;  // candidates that were neither named nor cleared
  std::size_t rounds = 0;
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
