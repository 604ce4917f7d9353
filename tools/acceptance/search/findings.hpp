// What the search found, and the verdicts about suspects after two confirmations.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/search/rounds.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {

// A slowdown as a fraction of the bandwidth, with its 95 % interval. It comes from confirmations
// alone, never from the rounds that raised the suspicion.
struct Size {
  double slowdown = 0, low = 0, high = 0;
};
// Returns the size of an effect (natural logarithm of a time) with its standard error.
Size size_of(double effect, double error);

enum class HostVerdict {
  healthy,
  blamed,
  slow_for_a_while,  // the first confirmation blamed the host, a later one cleared it
  open,              // neither blamed nor cleared
  gone               // the host stopped answering
};

struct HostFinding {
  int host = 0;
  HostVerdict verdict = HostVerdict::healthy;
  // The rest is of hosts that are blamed or were slow for a while.
  Way slow_at = Way::both;
  Size size;                    // of `intermittent`: of p95 / p50
  bool intermittent = false;    // only the slow tail of the operations is slow
  double began = 0, ended = 0;  // seconds, of the rounds that say so
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

// What the median time says beside a ceiling. Comparing hosts cannot show that all are slow.
enum class Rate { unknown, enough, too_slow };

struct Findings {
  std::vector<HostFinding> hosts;  // in the order they were given
  std::vector<int> suspects;       // hosts that stood out of the screen, ascending
  std::vector<LinkFinding> links;
  std::vector<UplinkFinding> uplinks;
  LinkVerdict link_verdict = LinkVerdict::skipped;
  std::size_t pairs_seen = 0, pairs = 0;
  bool looked_for_intermittent = false;
  Rate rate = Rate::unknown;
  double median_seconds = 0;
  double sigma = 0;          // robust standard deviation of ln(seconds) of one transfer
  std::size_t screened = 0;  // rounds of the screen
  std::size_t rounds = 0;    // all rounds
  Detectable detectable;
  std::vector<Reason> reasons;  // empty: the verdict about hosts is complete
};

bool names_any(const Findings& findings);

// Returns what two confirmations of one suspect say; `second` is nullopt if there was none, because
// the first did not blame the suspect. The size is the mean of both, weighted by their errors.
// Its interval also has what healthy hosts differ by, from `noise` of the suspect's statistic.
HostFinding host_finding(const Confirmation& first, const std::optional<Confirmation>& second,
                         const Noise& noise);

}  // namespace ccl_tests::acceptance
