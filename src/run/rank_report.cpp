#include "src/run/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

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

std::optional<CpuUse> cpu_use(Rank& rank, const CpuTimes& before) {
  struct Counted {
    double own_s, busy_s, wall_s;
    std::size_t cpus;  // 0: this rank counts none
  };
  const CounterScope scope = counter_scope(rank.table(), rank.rank());
  const CpuTimes now = cpu_times(scope);
  const Counted mine{now.own - before.own, now.busy - before.busy, now.wall - before.wall,
                     cpu_quota() > 0 ? 0 : std::min(now.cpus, before.cpus)};
  const std::vector<std::string> all =
      rank.world().gather(span_to_bytes<Counted>({&mine, 1}), rank.limit_s());
  std::map<std::string, double> own_s;  // by machine
  for (std::size_t r = 0; r < all.size(); ++r)
    own_s[rank.table().ranks[r].machine] += span_from_bytes<Counted>(all[r]).at(0).own_s;
  std::optional<CpuUse> found;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Counted counted = span_from_bytes<Counted>(all[r]).at(0);
    constexpr double shortest_s = 1;
    if (counted.cpus == 0 || counted.wall_s < shortest_s) continue;
    CpuUse use{.cpus = counted.cpus};
    use.others =
        std::clamp((counted.busy_s - own_s[rank.table().ranks[r].machine]) / counted.wall_s, 0.0,
                   static_cast<double>(use.cpus));
    use.idle = std::max(0.0, static_cast<double>(use.cpus) - counted.busy_s / counted.wall_s);
    const auto share = [](const CpuUse& one) { return one.others / static_cast<double>(one.cpus); };
    if (!found || share(use) > share(*found)) found = use;
  }
  return found;
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

ChannelCoordinator::ChannelCoordinator(Rank& rank, std::string row, bool moments, double limit_s)
    : rank_(rank), row_(std::move(row)), moments_(moments), limit_s_(limit_s) {}

Step ChannelCoordinator::agree(const Step& decision) {
  const std::string bytes = span_to_bytes<Step>({&decision, 1});
  const Step step = span_from_bytes<Step>(rank_.world().broadcast(bytes, limit_s_)).at(0);
  rank_.activity().row(fmt::format(
      "{}, {}", row_, step.kind == Step::Kind::single_calls ? "untimed calls" : "timed calls"));
  return step;
}

std::vector<Samples> ChannelCoordinator::gather(const Samples& mine) {
  std::vector<Samples> all;
  const std::string text = moments_ ? moments_to_text(mine) : to_text(mine);
  for (const std::string& bytes : rank_.world().gather(text, limit_s_))
    all.push_back(moments_ ? samples_of_moments(bytes) : samples_of(bytes));
  return all;
}

}  // namespace ccl_tests
