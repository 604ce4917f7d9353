// The search from its first rounds to the names of hosts and links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {

struct SearchPlan {
  double slowdown = 0.10;  // fraction that has to be found; about half of its effect may be named
  std::uint64_t seed = 1;  // of the schedule
  bool links = false;      // look for bad links, which takes a full tournament
  // The racks, by number of the host; empty: one rack. Racks are numbered from 0. Hosts are then
  // compared by pairs inside racks, and uplinks by pairs between racks.
  std::vector<int> rack_of;
  double oversubscription = 1;  // bandwidth of a rack's hosts / bandwidth of its uplink
  // Called between the two confirmations. What takes minutes belongs here: hosts that are slow for
  // a while are then not blamed.
  std::function<void()> later;
  Limits limits;
};

// Finds the bad ones of `hosts`, which are different numbers from 0 on. Rounds are measured one
// after the other. Throws UsageError if `plan` contradicts itself, and what `measurer` throws.
Findings find_bad_hosts(PairMeasurer& measurer, const std::vector<int>& hosts,
                        const SearchPlan& plan);

struct Screening {
  std::vector<MeasuredRound> rounds;
  std::vector<Observation> seen;  // of the time
  Effects effects;                // of `seen`
  Screen time;
  std::optional<Screen> tail;  // of p95 / p50; nullopt if there were too few operations
};

// Measures the first rounds, estimates the noise, and measures as many as rounds_needed() says. Begins again with longer
// operations as long as the noise hides what the plan asks for, or some hosts or pairs are faster than the others.
// `hosts`: their number; `numbers`: one more than the largest number of a host.
Screening measure_screen(PairMeasurer& measurer, IntraRackRounds& source, std::size_t hosts,
                         std::size_t numbers, const SearchPlan& plan);

// Measures `rounds` more rounds of `source`, and fits all of them anew. The screens stay.
void measure_more(PairMeasurer& measurer, IntraRackRounds& source, std::size_t rounds,
                  std::size_t hosts, std::size_t numbers, Screening& screening);

}  // namespace ccl_tests::acceptance
