#include "tools/acceptance/screening.hpp"

#include <algorithm>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
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
  screening.time = screen(screening.effects, limits);
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
    screening.tail = screen(fit_effects(tails, numbers), plan.limits);
  }
  return screening;
}

void measure_more(PairMeasurer& measurer, IntraRackRounds& source, std::size_t rounds,
                  std::size_t hosts, std::size_t numbers, Screening& screening) {
  measure_rounds(measurer, source, screening.rounds.size() + rounds, screening.rounds);
  fit(hosts, numbers, screening);
}

}  // namespace ccl_tests::acceptance
