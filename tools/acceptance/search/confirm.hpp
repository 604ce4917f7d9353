// The look at suspects: rounds with good hosts, the decision about each, and what a search found by two such looks.
#pragma once

#include <cstddef>
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

}  // namespace ccl_tests::acceptance
