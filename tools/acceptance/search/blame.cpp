#include "tools/acceptance/search/blame.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "src/core/error.hpp"
#include "src/measure/statistics.hpp"
#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/search/links.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {
namespace {

std::size_t numbers_of(const std::vector<int>& hosts) {
  return hosts.empty()
             ? 0
             : static_cast<std::size_t>(*std::max_element(hosts.begin(), hosts.end())) + 1;
}

Racks racks_of(const std::vector<int>& hosts, const std::vector<int>& rack_of) {
  if (rack_of.empty()) return {hosts};
  Racks racks;
  for (const int host : hosts) {
    const auto rack = static_cast<std::size_t>(rack_of[static_cast<std::size_t>(host)]);
    if (racks.size() <= rack) racks.resize(rack + 1);
    racks[rack].push_back(host);
  }
  return racks;
}

void check(const std::vector<int>& hosts, const SearchPlan& plan) {
  for (const int host : hosts)
    if (host < 0) throw UsageError("hosts are numbered from 0");
  if (std::set<int>(hosts.begin(), hosts.end()).size() != hosts.size())
    throw UsageError("a host is named twice");
  if (!plan.rack_of.empty() && plan.rack_of.size() < numbers_of(hosts))
    throw UsageError("a host has no rack: name the racks of all hosts, or of none");
  for (const int rack : plan.rack_of)
    if (rack < 0) throw UsageError("racks are numbered from 0");
  if (!(plan.oversubscription >= 1))
    throw UsageError("an uplink cannot carry more than the hosts of its rack: give 1 or more");
  if (!(plan.slowdown > 0 && plan.slowdown < 1))
    throw UsageError("the slowdown that has to be found is a fraction between 0 and 1");
}

// One search, stage after stage.
class Search {
 public:
  Search(PairMeasurer& measurer, const std::vector<int>& hosts, const SearchPlan& plan)
      : hosts_(hosts),
        plan_(plan),
        random_(plan.seed),
        measurer_(measurer, numbers_of(hosts)),
        racks_(racks_of(hosts, plan.rack_of)),
        source_(racks_, random_) {}

  Findings run() {
    for (const int host : hosts_) found_.hosts.push_back({.host = host, .size = {}});
    screening_ = measure_screen(measurer_, source_, hosts_.size(), numbers_of(hosts_), plan_);
    note_screen();
    if (can_compare()) {
      const std::vector<Confirmation> first = confirm_suspects(suspects(), {}, first_alpha());
      look_at_links(first);
      if (racks_.size() >= fewest_for_uplinks)
        found_.uplinks =
            find_uplinks(measurer_, racks_, plan_.oversubscription, plan_.limits.fewest_rounds,
                         screening_.time, plan_.limits, random_)
                .named;
      confirm_again(first);
    }
    conclude();
    return std::move(found_);
  }

 private:
  bool small() const { return hosts_.size() < small_launch; }
  double first_alpha() const {
    return small() ? plan_.limits.first_alpha_small : plan_.limits.first_alpha;
  }
  double second_alpha() const {
    return small() ? plan_.limits.second_alpha_small : plan_.limits.second_alpha;
  }
  void because(Reason reason) {
    if (std::find(found_.reasons.begin(), found_.reasons.end(), reason) == found_.reasons.end())
      found_.reasons.push_back(reason);
  }

  // Notes the screen's numbers, and the median time.
  void note_screen() {
    std::vector<double> seconds;
    for (const Observation& one : screening_.seen) seconds.push_back(std::exp(one.value));
    if (!seconds.empty()) found_.median_seconds = median(std::move(seconds));
    found_.sigma = screening_.time.sigma;
    found_.screened = screening_.rounds.size();
    found_.looked_for_intermittent = screening_.tail.has_value();
    if (screening_.time.said_enough)
      found_.detectable =
          detectable(found_.sigma, found_.screened, screening_.time.hosts, plan_.limits);
  }

  // Returns whether the hosts tell who is slow; otherwise notes why they do not.
  bool can_compare() {
    if (screening_.seen.empty()) because(Reason::nothing_measured);
    if (hosts_.size() < fewest_named) because(Reason::too_few_hosts);
    if (!found_.reasons.empty()) return false;
    if (!screening_.time.said_enough) {
      because(screening_.time.hosts < fewest_named ? Reason::too_few_hosts
                                                   : Reason::too_few_rounds);
      return false;
    }
    std::set<int> all(screening_.time.suspects.begin(), screening_.time.suspects.end());
    if (screening_.tail)
      all.insert(screening_.tail->suspects.begin(), screening_.tail->suspects.end());
    found_.suspects.assign(all.begin(), all.end());
    if (all.size() <= most_suspects(screening_.time.hosts)) return true;
    because(Reason::too_many_suspects);
    return false;
  }

  std::vector<Suspect> suspects() const {
    std::vector<Suspect> all;
    for (const int host : screening_.time.suspects) all.push_back({host, Statistic::time});
    if (screening_.tail)
      for (const int host : screening_.tail->suspects) all.push_back({host, Statistic::tail});
    std::erase_if(all, [&](const Suspect& one) { return measurer_.gone(one.host); });
    return all;
  }

  // `cleared`: former suspects that are good after all.
  std::vector<Confirmation> confirm_suspects(const std::vector<Suspect>& suspected,
                                             const std::set<int>& cleared, double alpha) {
    ConfirmPlan plan;
    plan.suspects = suspected;
    plan.rack_of = plan_.rack_of;
    plan.alpha = alpha;
    plan.limits = plan_.limits;
    plan.time = noise_of(screening_.time);
    if (screening_.tail) plan.tail = noise_of(*screening_.tail);
    std::set<int> not_good;
    for (const Suspect& one : suspects())
      if (!cleared.contains(one.host)) not_good.insert(one.host);
    for (const int host : hosts_)
      if (!not_good.contains(host) && !measurer_.gone(host)) plan.good.push_back(host);
    return confirm(measurer_, plan, random_).suspects;
  }

  // Completes the tournament, and looks for links if all pairs were seen.
  void look_at_links(const std::vector<Confirmation>& first) {
    std::size_t tournament = 0;
    std::set<int> bad;
    for (const std::vector<int>& rack : racks_) {
      std::size_t alive = 0;
      for (const int host : rack) {
        alive += measurer_.gone(host) ? 0 : 1;
        if (measurer_.gone(host)) bad.insert(host);
      }
      found_.pairs += alive < 2 ? 0 : alive * (alive - 1) / 2;
      tournament = std::max(tournament, circle(static_cast<int>(rack.size())).size());
    }
    if (plan_.links && hosts_.size() >= fewest_for_links && screening_.rounds.size() < tournament)
      measure_more(measurer_, source_, tournament - screening_.rounds.size(), hosts_.size(),
                   numbers_of(hosts_), screening_);
    std::set<std::pair<int, int>> pairs;
    for (const Observation& one : screening_.seen)
      if (!bad.contains(one.from) && !bad.contains(one.to))
        pairs.insert(std::minmax(one.from, one.to));
    found_.pairs_seen = pairs.size();
    if (!plan_.links || found_.pairs_seen < found_.pairs || hosts_.size() < fewest_for_links)
      return;
    // A suspect that the noise has left undecided may be one because of its link.
    std::set<int> no_controls = bad;
    for (const Confirmation& one : first) {
      if (one.decision != Decision::cleared) no_controls.insert(one.suspect.host);
      if (one.decision == Decision::blamed) bad.insert(one.suspect.host);
    }
    std::vector<int> good;
    std::copy_if(hosts_.begin(), hosts_.end(), std::back_inserter(good),
                 [&](int host) { return !no_controls.contains(host); });
    const std::vector<LinkCandidate> candidates = link_candidates(
        screening_.seen, screening_.effects, {bad.begin(), bad.end()}, plan_.limits);
    const LinkSearch links =
        confirm_links(measurer_, candidates, good, screening_.effects, plan_.limits, random_);
    found_.links = links.named;
    size_by_the_rest(found_.links, screening_.seen, screening_.effects, numbers_of(hosts_));
    found_.link_verdict = links.open > 0         ? LinkVerdict::open
                          : !links.named.empty() ? LinkVerdict::found
                                                 : LinkVerdict::nothing_found;
  }

  void confirm_again(const std::vector<Confirmation>& first) {
    std::vector<Suspect> blamed;
    std::set<int> cleared, kept;
    for (const Confirmation& one : first) {
      if (one.decision == Decision::blamed) blamed.push_back(one.suspect);
      (one.decision == Decision::cleared ? cleared : kept).insert(one.suspect.host);
    }
    for (const int host : kept) cleared.erase(host);
    std::vector<Confirmation> second;
    if (!blamed.empty()) {
      if (plan_.later) plan_.later();
      second = confirm_suspects(blamed, cleared, second_alpha());
    }
    for (const Confirmation& one : first) {
      const auto again = std::find_if(second.begin(), second.end(), [&](const Confirmation& other) {
        return other.suspect.host == one.suspect.host &&
               other.suspect.statistic == one.suspect.statistic;
      });
      note(host_finding(
          one, again == second.end() ? std::nullopt : std::optional(*again),
          noise_of(one.suspect.statistic == Statistic::tail ? *screening_.tail : screening_.time)));
    }
  }

  // A host slow in the mean is not called intermittent, and one verdict a host stands: the gravest.
  void note(const HostFinding& finding) {
    const auto gravity = [](const HostFinding& one) {
      switch (one.verdict) {
        case HostVerdict::healthy: return 0;
        case HostVerdict::slow_for_a_while: return 1;
        case HostVerdict::open: return 2;
        case HostVerdict::blamed: return 3;
        case HostVerdict::gone: return 4;
      }
      return 0;
    };
    for (HostFinding& one : found_.hosts)
      if (one.host == finding.host && gravity(finding) > gravity(one)) one = finding;
  }

  void conclude() {
    found_.rounds = measurer_.rounds();
    bool named = false;
    for (HostFinding& one : found_.hosts) {
      if (measurer_.gone(one.host)) {
        one = {.host = one.host, .verdict = HostVerdict::gone, .size = {}};
        because(Reason::host_gone);
      }
      named = named || one.verdict == HostVerdict::blamed;
      if (one.verdict == HostVerdict::open) because(Reason::undecided);
    }
    if (!screening_.time.said_enough) return;
    if (screening_.time.grouped && !named) because(Reason::hosts_form_groups);
    if (screening_.time.someone_fast || (screening_.time.fast_pairs && !named))
      because(Reason::some_are_faster);
    if (found_.detectable.both_ways > plan_.slowdown) because(Reason::too_noisy);
  }

  const std::vector<int>& hosts_;
  const SearchPlan& plan_;
  Random random_;
  TrackingMeasurer measurer_;
  Racks racks_;
  IntraRackRounds source_;
  Screening screening_;
  Findings found_;
};

}  // namespace

Findings find_bad_hosts(PairMeasurer& measurer, const std::vector<int>& hosts,
                        const SearchPlan& plan) {
  check(hosts, plan);
  SearchPlan scaled = plan;
  scaled.limits.smallest *= std::max(1.0, std::log1p(-plan.slowdown) / std::log1p(-0.1));
  return Search(measurer, hosts, scaled).run();
}

namespace {

void measure_rounds(PairMeasurer& measurer, IntraRackRounds& source, std::size_t wanted,
                    std::vector<MeasuredRound>& rounds) {
  while (rounds.size() < wanted) {
    const Round round = source.next();
    if (round.empty()) return;  // no rack has two hosts
    rounds.push_back({round, measurer.measure(round)});
  }
}

// Fewer than three pairs cannot tell what a round shares: two rounds then share an effect.
std::size_t rounds_per_group(std::size_t hosts) { return hosts < 6 ? 2 : 1; }

void fit(std::size_t hosts, std::size_t numbers, Screening& screening) {
  screening.seen = observations(screening.rounds, Statistic::time, rounds_per_group(hosts));
  screening.effects = fit_effects(screening.seen, numbers);
}

// Returns whether not even the most rounds show what the plan asks for.
bool is_hidden(double sigma, std::size_t hosts, const SearchPlan& plan) {
  return detectable(sigma, plan.limits.most_rounds, hosts, plan.limits).both_ways > plan.slowdown;
}

bool enough_operations(const std::vector<MeasuredRound>& rounds) {
  std::vector<double> operations;
  for (const MeasuredRound& round : rounds)
    for (const PairTimes& pair : round.times)
      for (const Transfer* one : {&pair.forward, &pair.backward})
        if (value_of(*one, Statistic::tail))
          operations.push_back(static_cast<double>(one->operations));
  return !operations.empty() && median(operations) >= static_cast<double>(fewest_for_tails);
}

// Returns whether some hosts or pairs are faster than the others, without one that is slower. A buffer that takes a part of
// the messages does that, and few good hosts among bad ones do.
bool is_unclear(const Screen& found) {
  return found.someone_fast || found.fast_pairs || (found.grouped && found.suspects.empty());
}

// Measures rounds of one length of operations, and what stands out of them. Returns false if operations were made longer,
// and it is to be called again.
bool screened(PairMeasurer& measurer, IntraRackRounds& source, std::size_t hosts,
              std::size_t numbers, const SearchPlan& plan, Screening& screening) {
  const Limits& limits = plan.limits;
  const bool compared = hosts >= fewest_named;
  screening.rounds.clear();
  measure_rounds(measurer, source, limits.fewest_rounds, screening.rounds);
  // The first rounds know the noise badly: more rounds may ask for more again.
  std::size_t before = 0;
  while (compared && screening.rounds.size() > before) {
    before = screening.rounds.size();
    fit(hosts, numbers, screening);
    if (is_hidden(screening.effects.sigma, hosts, plan) && measurer.enlarge()) return false;
    measure_rounds(measurer, source,
                   rounds_needed(screening.effects.sigma, plan.slowdown, hosts, limits),
                   screening.rounds);
  }
  fit(hosts, numbers, screening);
  screening.time = screen(screening.seen, screening.effects, limits);
  return !(compared && is_unclear(screening.time) && measurer.enlarge());
}

}  // namespace

Screening measure_screen(PairMeasurer& measurer, IntraRackRounds& source, std::size_t hosts,
                         std::size_t numbers, const SearchPlan& plan) {
  Screening screening;
  while (!screened(measurer, source, hosts, numbers, plan, screening)) {
  }
  if (enough_operations(screening.rounds)) {
    const std::vector<Observation> tails =
        observations(screening.rounds, Statistic::tail, rounds_per_group(hosts));
    screening.tail = screen(tails, fit_effects(tails, numbers), plan.limits);
  }
  return screening;
}

void measure_more(PairMeasurer& measurer, IntraRackRounds& source, std::size_t rounds,
                  std::size_t hosts, std::size_t numbers, Screening& screening) {
  measure_rounds(measurer, source, screening.rounds.size() + rounds, screening.rounds);
  fit(hosts, numbers, screening);
}

}  // namespace ccl_tests::acceptance
