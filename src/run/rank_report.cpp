#include "src/run/rank_report.hpp"

#include "src/core/serialize.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepTimes, sizes_s, payload_s, packing_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evidence, minor_faults, major_faults, yielded, preempted,
                                   steal_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, wrong, first, last, explanation, calls, verified,
                                   steps, intervals, barrier, blocks, algorithm)

std::string to_text(const RankReport& report) { return to_bytes(report); }
RankReport rank_report(std::string_view text) { return from_bytes<RankReport>(text); }

namespace {

// Seconds since the sample's start: 8 bytes of each stamp and rank, to 1 part in 10 million.
struct Durations {
  float issued, end;
};

}  // namespace

std::string to_text(const Samples& samples) {
  std::vector<Durations> all;
  for (const Sample& s : samples)
    all.push_back({static_cast<float>(s.issued - s.start), static_cast<float>(s.seconds())});
  return span_to_bytes<Durations>(all);
}

Samples samples_of(std::string_view text) {
  Samples samples;
  for (const Durations& d : span_from_bytes<Durations>(text))
    samples.push_back({0, d.issued, d.end});
  return samples;
}

}  // namespace ccl_tests
