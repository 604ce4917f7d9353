#include "src/report/late_ranks.hpp"

#include <cmath>

#include "src/measure/standing_out.hpp"
#include "src/measure/statistics.hpp"

namespace ccl_tests {

void LateRanks::add(const Row& row) {
  add(row.out_of_place);
  if (!row.in_place.repeats_out_of_place) add(row.in_place);
}

void LateRanks::add(const Measurement& cell) {
  if (!cell.stream || !cell.samples || cell.samples->late_share.empty()) return;
  const SampleTimes& times = *cell.samples;
  const auto samples = static_cast<double>(cell.stream->stamps);
  // The skew is skew_share of a sample.
  const double skew = times.skew.value_or(0);
  const double samples_per_s = skew > 0 ? times.skew_share.value_or(0) / skew : 0;
  for (std::size_t r = 0; r < times.ranks.size(); ++r) {
    Counts& counts = ranks_[static_cast<int>(times.ranks[r])];
    counts.samples += samples;
    counts.last += times.late_share[r] * samples;
    counts.by_chance += samples / static_cast<double>(times.ranks.size());
    counts.late_s.push_back(times.late_s[r]);
    counts.of_sample.push_back(times.late_s[r] * samples_per_s);
  }
}

std::optional<LateRank> LateRanks::found() const {
  constexpr double least_of_sample = 0.02;
  for (const auto& [rank, counts] : ranks_) {
    const auto samples = static_cast<std::uint64_t>(std::llround(counts.samples));
    const auto last = static_cast<std::uint64_t>(std::llround(counts.last));
    if (!stands_out(samples, last, counts.by_chance / counts.samples)) continue;
    if (median(counts.of_sample) < least_of_sample) continue;
    return LateRank{rank, {}, counts.last / counts.samples, samples, median(counts.late_s)};
  }
  return std::nullopt;
}

}  // namespace ccl_tests
