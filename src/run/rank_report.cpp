#include "src/run/rank_report.hpp"

#include <algorithm>

#include "src/core/serialize.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {

CounterScope counter_scope(const RankTable& table, int rank) {
  const RankIdentity& me = table[rank];
  const auto before = table.ranks.begin() + rank;
  CounterScope scope;
  scope.process = std::none_of(table.ranks.begin(), before, [&](const RankIdentity& r) {
    return r.place() == me.place() && r.pid == me.pid;
  });
  const auto here = [&](const RankIdentity& r) { return r.machine == me.machine; };
  if (std::any_of(table.ranks.begin(), before, here)) return scope;
  for (const RankIdentity& r : table.ranks)
    if (here(r)) scope.cpus.merge(cpus_in(r.cpus));
  return scope;
}

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

// Seconds of the rank's clock.
struct Moments {
  double start, end;
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

std::string moments_to_text(const Samples& samples) {
  std::vector<Moments> all;
  for (const Sample& s : samples) all.push_back({s.start, s.end});
  return span_to_bytes<Moments>(all);
}

Samples samples_of_moments(std::string_view text) {
  Samples samples;
  for (const Moments& m : span_from_bytes<Moments>(text))
    samples.push_back({m.start, m.end, m.end});
  return samples;
}

}  // namespace ccl_tests
