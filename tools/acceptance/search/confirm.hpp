// The search for bad hosts, from its screen to names. confirm.cpp: rounds of suspects with good hosts. links.cpp: links
// that are slow while both hosts are not, and uplinks of racks, which are slow only to other racks. blame.cpp: the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {

struct Suspect {
  int host = 0;
  Statistic statistic = Statistic::time;
  bool operator==(const Suspect&) const = default;
};

// The screen's noise of one statistic.
struct Noise {
  double sigma = 0;              // of one observation
  PerWay<double> variance = {};  // between healthy hosts, beyond that of their standard error
};
// Returns sigma, and spread^2 - error^2 of each way or 0.
Noise noise_of(const Screen& screen);

struct ConfirmPlan {
  std::vector<Suspect> suspects = {};
  std::vector<int> good = {};     // hosts that may be partners and controls
  std::vector<int> rack_of = {};  // by number of the host; pairs lie inside racks. Empty: one rack
  Noise time = {}, tail = {};
  // Blamed is from the standard error's quantile on: alpha over 3 ways, the suspects and the looks, by Bonferroni.
  double alpha = 1e-4;
  double smallest = usual_smallest;  // effect worth naming
};

struct Judged {
  double effect = 0, error = 0;  // the median over rounds, and its standard error
  bool blamed = false, cleared = false;
};

enum class Decision { open, blamed, cleared };

// One suspect's outcome.
struct Confirmation {
  Suspect suspect;
  Decision decision = Decision::open;
  PerWay<Judged> way = {};
};

// Measures rounds of suspects and controls until each suspect is decided, and decides after each look. A suspect is
// blamed if in any way its median is at least `smallest`, significantly above 0, above that of every control (if there
// are 8), and above 0 in most rounds (sign test, 4 % and 1.1 %); cleared if all ways are too small for that; open if
// the last look leaves it so, or fewer than two good hosts are controls. Returns the outcomes in the order of the plan.
std::vector<Confirmation> confirm(PairMeasurer& measurer, const ConfirmPlan& plan, Random& random);

// A slowdown as a fraction of the bandwidth, with its 95 % interval: of confirmations, never of the suspicious rounds.
struct Size {
  double slowdown = 0, low = 0, high = 0;
};
// Returns the size of an effect (natural logarithm of a time) with its standard error.
Size size_of(double effect, double error);

// From the best to the worst: of several findings a host has the worst.
enum class HostVerdict {
  healthy,
  slow_for_a_while,  // the first confirmation blamed the host, a later one cleared it
  open,              // neither blamed nor cleared
  blamed,
  gone  // the host stopped answering
};

struct HostFinding {
  int host = 0;
  HostVerdict verdict = HostVerdict::healthy;
  // The rest is of hosts that are blamed or were slow for a while.
  Way slow_at = Way::both;
  Size size;                  // of `intermittent`: of p95 / p50
  bool intermittent = false;  // only the slow tail of the operations is slow
};

struct LinkFinding {
  HostPair hosts;
  bool one_way = false;  // only from hosts.a to hosts.b
  Size size;
};

struct UplinkFinding {
  int rack = 0;
  Size size;
};

enum class LinkVerdict {
  skipped,  // no links were asked for, too few hosts, or pairs were not measured
  nothing_found,
  found,
  open  // a candidate was neither named nor cleared
};

// Why a search cannot say that all hosts are healthy.
enum class Reason {
  nothing_measured,
  too_few_hosts,
  too_few_rounds,
  too_noisy,
  too_many_suspects,
  hosts_form_groups,
  some_are_faster,
  undecided,
  host_gone
};
// Returns a sentence without its full stop.
std::string_view text(Reason reason);

struct Findings {
  std::vector<HostFinding> hosts;  // in the order they were given
  std::vector<int> suspects;       // hosts that stood out of the screen, ascending
  std::vector<LinkFinding> links;
  std::vector<UplinkFinding> uplinks;
  LinkVerdict link_verdict = LinkVerdict::skipped;
  std::size_t pairs_seen = 0, pairs = 0;
  bool looked_for_intermittent = false;
  double median_seconds = 0;  // beside a ceiling: comparing hosts cannot show that all are slow
  double sigma = 0;           // robust standard deviation of ln(seconds) of one transfer
  std::size_t screened = 0;   // rounds of the screen
  std::size_t rounds = 0;     // all rounds
  Detectable detectable;
  std::vector<Reason> reasons;  // empty: the verdict about hosts is complete
};

// Returns what two confirmations of one suspect say; `second` is null if the first did not blame it. The size is the
// mean of both, weighted by their errors; its interval also has what healthy hosts differ by, from `noise`.
HostFinding host_finding(const Confirmation& first, const Confirmation* second, const Noise& noise);

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
