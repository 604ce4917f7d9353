#include "src/judge/late_ranks.hpp"

#include <cmath>

#include "src/measure/statistics.hpp"

namespace ccl_tests {

void LateRanks::Thinned::add(double value) {
  constexpr std::size_t most = 4096;
  if (seen_++ % each_ != 0) return;
  values_.push_back(value);
  if (values_.size() < most) return;
  for (std::size_t k = 0; 2 * k < values_.size(); ++k) values_[k] = values_[2 * k];
  values_.resize(most / 2);
  each_ *= 2;
}

void LateRanks::add(const Row& row) {
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (!cell->has_own_time() || !cell->stream || !cell->samples) continue;
    const SampleTimes& times = *cell->samples;
    if (times.late_share.empty()) continue;
    const auto samples = static_cast<double>(cell->stream->stamps);
    // The skew is skew_share of a sample.
    const double skew = times.skew.value_or(0);
    const double samples_per_s = skew > 0 ? times.skew_share.value_or(0) / skew : 0;
    for (std::size_t r = 0; r < times.ranks.size(); ++r) {
      Counts& counts = ranks_[static_cast<int>(times.ranks[r])];
      counts.samples += samples;
      counts.last += times.late_share[r] * samples;
      counts.by_chance += samples / static_cast<double>(times.ranks.size());
      counts.late_s.add(times.late_s[r]);
      counts.of_sample.add(times.late_s[r] * samples_per_s);
    }
  }
}

std::optional<LateRank> LateRanks::found() const {
  constexpr double least_of_sample = 0.02;
  for (const auto& [rank, counts] : ranks_) {
    const auto samples = static_cast<std::uint64_t>(std::llround(counts.samples));
    const auto last = static_cast<std::uint64_t>(std::llround(counts.last));
    if (!stands_out(samples, last, counts.by_chance / counts.samples)) continue;
    if (median(counts.of_sample.values()) < least_of_sample) continue;
    return LateRank{
        rank, {}, counts.last / counts.samples, samples, median(counts.late_s.values())};
  }
  return std::nullopt;
}

}  // namespace ccl_tests
