// The first stage: as many rounds as the noise asks for, and what stands out of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/acceptance/blame.hpp"
#include "tools/acceptance/racks.hpp"

namespace ccl_tests::acceptance {

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
