#include "tools/acceptance/findings.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests::acceptance {
namespace {

double slowdown(double effect) { return -std::expm1(-effect); }

}  // namespace

Size size_of(double effect, double error) {
  return {slowdown(effect), slowdown(effect - 1.96 * error), slowdown(effect + 1.96 * error)};
}

std::string_view text(Reason reason) {
  switch (reason) {
    case Reason::nothing_measured: return "no pair of hosts was measured";
    case Reason::too_few_hosts: return "fewer than 4 hosts cannot show which of them is slow";
    case Reason::too_few_rounds: return "too few pairs were measured to know the noise";
    case Reason::too_noisy: return "the noise hides the slowdown that has to be found";
    case Reason::too_many_suspects:
      return "too many hosts stand out: the others may be the ones that differ";
    case Reason::hosts_form_groups:
      return "hosts fall into groups of different speed, or changed it: no telling which are slow";
    case Reason::some_are_faster:
      return "some hosts or pairs are faster than the others: these may all be slow";
    case Reason::undecided: return "a suspect was neither blamed nor cleared";
    case Reason::host_gone: return "a host stopped answering";
  }
  return "";
}

bool names_any(const Findings& findings) {
  return !findings.links.empty() || !findings.uplinks.empty() ||
         std::any_of(findings.hosts.begin(), findings.hosts.end(),
                     [](const HostFinding& one) { return one.verdict == HostVerdict::blamed; });
}

}  // namespace ccl_tests::acceptance
