#include "tools/acceptance/search/findings.hpp"

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

namespace {

// Returns the mean of both, weighted by their errors.
Judged pooled(const Judged& first, const Judged& second) {
  constexpr double least = 1e-9;  // fabrics without noise have no error
  const double u = 1 / std::pow(std::max(first.error, least), 2);
  const double v = 1 / std::pow(std::max(second.error, least), 2);
  return {.effect = (u * first.effect + v * second.effect) / (u + v),
          .error = std::sqrt(1 / (u + v))};
}

// A way counts as slow beside a slower other way if it has half of the other's effect, or one of
// its own that is worth naming and beyond its error.
bool slow_too(const Judged& way, const Judged& other) {
  return way.effect >= other.effect / 2 ||
         (way.effect >= Limits().smallest && way.effect > 1.96 * way.error);
}

Way slow_at(const PerWay<Judged>& way) {
  const Judged& sending = way[index(Way::sending)];
  const Judged& receiving = way[index(Way::receiving)];
  if (sending.effect >= receiving.effect)
    return slow_too(receiving, sending) ? Way::both : Way::sending;
  return slow_too(sending, receiving) ? Way::both : Way::receiving;
}

}  // namespace

HostFinding host_finding(const Confirmation& first, const std::optional<Confirmation>& second,
                         const Noise& noise) {
  HostFinding found;
  found.host = first.suspect.host;
  found.intermittent = first.suspect.statistic == Statistic::tail;
  if (first.decision == Decision::cleared) return found;
  found.verdict = HostVerdict::open;
  found.began = first.began;
  found.ended = first.ended;
  if (first.decision == Decision::open) return found;
  PerWay<Judged> way = first.way;
  if (second && second->decision == Decision::cleared)
    found.verdict = HostVerdict::slow_for_a_while;
  if (second && second->decision == Decision::blamed) {
    found.verdict = HostVerdict::blamed;
    found.ended = second->ended;
    for (std::size_t i = 0; i < way.size(); ++i) way[i] = pooled(first.way[i], second->way[i]);
  }
  found.slow_at = slow_at(way);
  const Judged& size = way[index(found.slow_at)];
  const double spread = std::sqrt(noise.variance[index(found.slow_at)]);
  found.size = size_of(size.effect, std::hypot(size.error, spread));
  return found;
}

}  // namespace ccl_tests::acceptance
