#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/search/confirm.hpp"

namespace ccl_tests::acceptance {
namespace {

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

struct Screening {
  std::vector<std::vector<PairTimes>> rounds;
  std::vector<Observation> seen;  // of the time
  Effects effects;                // of `seen`
  Screen time;
  std::optional<Screen> tail;  // of p95 / p50; nullopt if there were too few operations
};

bool enough_operations(const std::vector<std::vector<PairTimes>>& rounds) {
  std::vector<double> operations;
  for (const std::vector<PairTimes>& round : rounds)
    for (const PairTimes& pair : round)
      for (const Transfer* one : {&pair.forward, &pair.backward})
        if (value_of(*one, Statistic::tail))
          operations.push_back(static_cast<double>(one->operations));
  return !operations.empty() && median(operations) >= static_cast<double>(fewest_for_tails);
}

// Returns whether some hosts or pairs are faster than the others, but none is slower. A buffer that takes a part of
// the messages does that, and few good hosts among bad ones do.
bool is_unclear(const Screen& found) {
  return found.someone_fast || found.fast_pairs || (found.grouped && found.suspects.empty());
}

// The probabilities that a confirmation blames any healthy suspect. Small launches have few partners, and would find
// too little with those of large ones.
constexpr double first_alpha = 1e-4, second_alpha = 1e-3, few_partners = 10;

// One search, stage after stage.
class Search {
 public:
  Search(PairMeasurer& measurer, std::size_t hosts, const SearchPlan& plan)
      : hosts_(first_numbers(hosts)),
        plan_(plan),
        random_(plan.seed),
        measurer_(measurer, hosts),
        racks_(racks_of(hosts_, plan.rack_of)),
        source_(racks_, random_) {}

  Findings run() {
    for (const int host : hosts_) found_.hosts.push_back({.host = host, .size = {}});
    measure_screen();
    note_screen();
    if (can_compare()) {
      const std::vector<Confirmation> first = confirm_suspects(suspects(), {}, first_alpha);
      look_at_links(first);
      if (racks_.size() >= fewest_for_uplinks)
        found_.uplinks = find_uplinks(measurer_, racks_, screening_.time, smallest_, random_);
      confirm_again(first);
    }
    conclude();
    return std::move(found_);
  }

 private:
  void because(Reason reason) {
    if (std::ranges::find(found_.reasons, reason) == found_.reasons.end())
      found_.reasons.push_back(reason);
  }

  void measure_rounds(std::size_t wanted) {
    while (screening_.rounds.size() < wanted) {
      const Round round = source_.next();
      if (round.empty()) return;  // no rack has two hosts
      screening_.rounds.push_back(measurer_.measure(round));
    }
  }

  // Fewer than three pairs cannot tell what a round shares: two rounds then share an effect.
  std::vector<Observation> seen_of(Statistic statistic) const {
    return observations(screening_.rounds, statistic, hosts_.size() < 6 ? 2 : 1);
  }

  void fit() {
    screening_.seen = seen_of(Statistic::time);
    screening_.effects = fit_effects(screening_.seen, hosts_.size());
  }

  // Measures the first rounds, estimates the noise, and measures as many as rounds_needed() says. Begins again with
  // longer operations as long as the noise hides what the plan asks for, or some hosts or pairs are faster than the
  // others.
  void measure_screen() {
    while (!screened()) {
    }
    if (!enough_operations(screening_.rounds)) return;
    const std::vector<Observation> tails = seen_of(Statistic::tail);
    screening_.tail = screen(tails, fit_effects(tails, hosts_.size()), smallest_);
  }

  // Measures rounds of one length of operations, and what stands out of them. Returns false if operations were made
  // longer, and it is to be called again.
  bool screened() {
    const bool compared = hosts_.size() >= fewest_named;
    screening_.rounds.clear();
    measure_rounds(fewest_rounds);
    // The first rounds know the noise badly: more rounds may ask for more again.
    std::size_t before = 0;
    while (compared && screening_.rounds.size() > before) {
      before = screening_.rounds.size();
      fit();
      const double sigma = screening_.effects.sigma;
      const Detectable at_most = detectable(sigma, most_rounds, hosts_.size(), smallest_);
      if (at_most.both_ways > plan_.slowdown && measurer_.enlarge()) return false;
      measure_rounds(rounds_needed(sigma, plan_.slowdown, hosts_.size()));
    }
    fit();
    screening_.time = screen(screening_.seen, screening_.effects, smallest_);
    return !(compared && is_unclear(screening_.time) && measurer_.enlarge());
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
          detectable(found_.sigma, found_.screened, screening_.time.hosts, smallest_);
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
    ConfirmPlan plan{.suspects = suspected,
                     .rack_of = plan_.rack_of,
                     .time = noise_of(screening_.time),
                     .alpha = hosts_.size() < small_launch ? few_partners * alpha : alpha,
                     .smallest = smallest_};
    if (screening_.tail) plan.tail = noise_of(*screening_.tail);
    std::set<int> not_good;
    for (const Suspect& one : suspects())
      if (!cleared.contains(one.host)) not_good.insert(one.host);
    for (const int host : hosts_)
      if (!not_good.contains(host) && !measurer_.gone(host)) plan.good.push_back(host);
    return confirm(measurer_, plan, random_);
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
    const bool asked = plan_.links && hosts_.size() >= fewest_for_links;
    if (asked && screening_.rounds.size() < tournament) {
      measure_rounds(tournament);
      fit();
    }
    std::set<std::pair<int, int>> pairs;
    for (const Observation& one : screening_.seen)
      if (!bad.contains(one.from) && !bad.contains(one.to))
        pairs.insert(std::minmax(one.from, one.to));
    found_.pairs_seen = pairs.size();
    if (!asked || found_.pairs_seen < found_.pairs) return;
    // A suspect that the noise has left undecided may be one because of its link.
    std::set<int> no_controls = bad;
    for (const Confirmation& one : first) {
      if (one.decision != Decision::cleared) no_controls.insert(one.suspect.host);
      if (one.decision == Decision::blamed) bad.insert(one.suspect.host);
    }
    std::vector<int> good;
    for (const int host : hosts_)
      if (!no_controls.contains(host)) good.push_back(host);
    const std::vector<LinkCandidate> candidates =
        link_candidates(screening_.seen, screening_.effects, bad, smallest_);
    LinkSearch links =
        confirm_links(measurer_, candidates, good, screening_.effects, smallest_, random_);
    found_.links = std::move(links.named);
    size_by_the_rest(found_.links, screening_.seen, screening_.effects, hosts_.size());
    found_.link_verdict = links.open > 0          ? LinkVerdict::open
                          : !found_.links.empty() ? LinkVerdict::found
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
      second = confirm_suspects(blamed, cleared, second_alpha);
    }
    for (const Confirmation& one : first) {
      const auto again = std::ranges::find(second, one.suspect, &Confirmation::suspect);
      const bool tail = one.suspect.statistic == Statistic::tail;
      const HostFinding finding = host_finding(one, again == second.end() ? nullptr : &*again,
                                               noise_of(tail ? *screening_.tail : screening_.time));
      // A host slow in the mean is not called intermittent.
      HostFinding& host = found_.hosts[static_cast<std::size_t>(finding.host)];
      if (finding.verdict > host.verdict) host = finding;
    }
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

  std::vector<int> hosts_;
  const SearchPlan& plan_;
  const double smallest_ =
      usual_smallest * std::max(1.0, std::log1p(-plan_.slowdown) / std::log1p(-0.1));
  Random random_;
  TrackingMeasurer measurer_;
  Racks racks_;
  IntraRackRounds source_;
  Screening screening_;
  Findings found_;
};

}  // namespace

Findings find_bad_hosts(PairMeasurer& measurer, int hosts, const SearchPlan& plan) {
  return Search(measurer, static_cast<std::size_t>(hosts), plan).run();
}

}  // namespace ccl_tests::acceptance
