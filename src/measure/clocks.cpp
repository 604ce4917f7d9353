#include "src/measure/clocks.hpp"

#include <algorithm>
#include <utility>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

double cost(const Clock& clock) {
  constexpr int readings = 50;
  std::vector<double> costs(101);
  for (double& cost : costs) {
    const double start = clock.now();
    for (int k = 1; k < readings; ++k) clock.now();
    cost = (clock.now() - start) / readings;
  }
  return median(std::move(costs));
}

double resolution(const Clock& clock) {
  constexpr int readings = 5000;
  double least = 0;
  double last = clock.now();
  for (int k = 0; k < readings; ++k) {
    const double now = clock.now();
    if (now > last) least = least > 0 ? std::min(least, now - last) : now - last;
    last = now;
  }
  return least;
}

}  // namespace

ClockProperties clock_properties(const Clock& clock) { return {cost(clock), resolution(clock)}; }

ClockOffset clock_offset(std::span<const RoundTrip> trips) {
  ClockOffset offset = {.at = (trips.front().sent + trips.back().received) / 2,
                        .low = trips.front().there - trips.front().received,
                        .high = trips.front().there - trips.front().sent};
  for (const RoundTrip& trip : trips) {
    offset.low = std::max(offset.low, trip.there - trip.received);
    offset.high = std::min(offset.high, trip.there - trip.sent);
  }
  return offset;
}

double onto_one_clock(std::vector<Samples>& ranks, std::span<const ComparedClock> clocks) {
  double error = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const ClockOffset& before = clocks[r].before;
    const ClockOffset& after = clocks[r].after;
    const double span = after.at - before.at;
    const double slope = span > 0 ? (after.value() - before.value()) / span : 0;
    const auto move = [&](double& moment) {
      moment += before.value() + slope * (moment - before.at);
    };
    for (Sample& sample : ranks[r]) {
      move(sample.start);
      move(sample.issued);
      move(sample.end);
    }
    error = std::max({error, before.error(), after.error()});
  }
  return error;
}

}  // namespace ccl_tests
