#include "src/run/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/core/serialize.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {

namespace verify {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Observations, nan_wins, nan_ignored, zero_above, zero_below,
                                   overflow_nan, overflow_saturates)
}  // namespace verify

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

std::optional<CpuUse> most_crowded(const RankTable& table, const std::vector<CpuTimes>& ranks) {
  constexpr double shortest_s = 1;
  std::map<std::string, double> own_s;  // by machine
  for (std::size_t r = 0; r < ranks.size(); ++r) own_s[table.ranks[r].machine] += ranks[r].own;
  std::optional<CpuUse> found;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const CpuTimes& counted = ranks[r];
    if (counted.cpus == 0 || counted.wall < shortest_s) continue;
    const auto cpus = static_cast<double>(counted.cpus);
    const double others = (counted.busy - own_s[table.ranks[r].machine]) / counted.wall;
    const CpuUse use{counted.cpus, std::clamp(others, 0.0, cpus),
                     std::max(0.0, cpus - counted.busy / counted.wall)};
    if (!found || use.others / cpus > found->others / static_cast<double>(found->cpus)) found = use;
  }
  return found;
}

std::optional<CpuUse> cpu_use(Rank& rank, const CpuTimes& before) {
  const CpuTimes now = cpu_times(counter_scope(rank.table(), rank.rank()));
  const CpuTimes mine{now.own - before.own, now.busy - before.busy, now.wall - before.wall,
                      cpu_quota() > 0 ? 0 : std::min(now.cpus, before.cpus)};
  std::vector<CpuTimes> all;
  for (const std::string& bytes :
       rank.world().gather(span_to_bytes<CpuTimes>({&mine, 1}), rank.limit_s()))
    all.push_back(span_from_bytes<CpuTimes>(bytes).at(0));
  return most_crowded(rank.table(), all);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepTimes, sizes_s, payload_s, packing_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evidence, minor_faults, major_faults, yielded, preempted,
                                   steal_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, wrong, first, last, explanation, seen, digest,
                                   received, calls, verified, steps, intervals, barrier, blocks,
                                   algorithm)

std::string to_text(const RankReport& report) { return to_bytes(report); }
RankReport rank_report(std::string_view text) { return from_bytes<RankReport>(text); }

std::vector<RankReport> gather_reports(Rank& rank, const RankReport& mine, double limit_s) {
  std::vector<RankReport> reports;
  for (const std::string& bytes : rank.world().gather(to_text(mine), limit_s))
    reports.push_back(rank_report(bytes));
  return reports;
}

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

void judge_agreement(const RankGroups& groups, std::vector<RankReport>& reports) {
  for (int g = 0; g < groups.number() && !reports.empty(); ++g) {
    std::map<std::uint64_t, int> first;  // the first rank that received these blocks
    for (const int rank : groups.members(g)) {
      RankReport& report = reports[static_cast<std::size_t>(rank)];
      if (report.digest == 0) continue;
      const int other = first.try_emplace(report.received, rank).first->second;
      if (report.digest == reports[static_cast<std::size_t>(other)].digest) continue;
      verify::Mismatch found{1, 0, 0, {}};
      found.explanation = fmt::format(
          "rank {} has other bits than rank {}, or NaN where that one has numbers, in the result of one reduction",
          rank, other);
      report.add(found);
    }
  }
}

void judge_barriers(const RankGroups& groups, std::vector<RankReport>& reports) {
  for (int g = 0; g < groups.number() && !reports.empty(); ++g) {
    const std::vector<int>& members = groups.members(g);
    const auto report = [&](int rank) -> RankReport& {
      return reports[static_cast<std::size_t>(rank)];
    };
    for (std::size_t at = 0; at + 1 < report(members.front()).barrier.size(); at += 2) {
      const auto last = std::max_element(members.begin(), members.end(), [&](int a, int b) {
        return report(a).barrier.at(at) < report(b).barrier.at(at);
      });
      const double entered = report(*last).barrier.at(at);
      for (const int rank : members) {
        const double left = report(rank).barrier.at(at + 1);
        if (left >= entered || report(rank).wrong++ > 0) continue;
        report(rank).explanation =
            fmt::format("left the barrier {:.1f} us before rank {} entered it",
                        (entered - left) * 1e6, last - members.begin());
      }
    }
  }
}

namespace {

constexpr std::size_t round_trips = 16;  // the fastest counts: more than the first, slow ones

void exchange(Communicator& world, Message message) {
  Deadline deadline = world.deadline(sizeof(double));
  world.transfer({&message, 1}, deadline);
  world.wait();
}

void send(Communicator& world, int peer, double value) {
  exchange(world, Message::to(peer, std::as_bytes(std::span(&value, 1))));
}

double receive(Communicator& world, int peer) {
  double value = 0;
  exchange(world, Message::from(peer, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

ClockOffset ask(Communicator& world, int whom) {
  std::vector<RoundTrip> trips(round_trips);
  for (RoundTrip& trip : trips) {
    trip.sent = world.clock().now();
    send(world, whom, 0);
    trip.there = receive(world, whom);
    trip.received = world.clock().now();
  }
  return clock_offset(trips);
}

void answer(Communicator& world, int whom) {
  for (std::size_t k = 0; k < round_trips; ++k) {
    receive(world, whom);
    send(world, whom, world.clock().now());
  }
}

}  // namespace

HostClocks::HostClocks(Rank& rank, Communicator& world, bool wanted, double limit_s)
    : rank_(rank),
      world_(world),
      limit_s_(limit_s),
      compares_(wanted && !rank.table().on_one_machine() &&
                rank.device().memory() == Memory::host) {
  if (compares_) before_ = compare();
}

// Returns, on rank 0, how far its clock is ahead of each rank's.
std::vector<ClockOffset> HostClocks::compare() {
  const std::vector<std::string> places = rank_.table().places();
  std::map<std::string, int> speakers;  // the first rank of each machine
  for (int r = 0; r < rank_.ranks(); ++r) speakers.emplace(places[static_cast<std::size_t>(r)], r);
  const Expected expected(rank_.activity(), limit_s_);
  rank_.activity().row("comparing the clocks of the hosts");
  ClockOffset mine;
  for (int r = 1; r < rank_.ranks(); ++r) {
    if (speakers.at(places[static_cast<std::size_t>(r)]) != r) continue;
    inside_library(rank_.activity(), [&] {
      if (rank_.is_first()) answer(world_, r);
      if (rank_.rank() == r) mine = ask(world_, 0);
    });
  }
  std::vector<ClockOffset> offsets;
  for (const std::string& bytes :
       rank_.world().gather(span_to_bytes<ClockOffset>({&mine, 1}), limit_s_))
    offsets.push_back(span_from_bytes<ClockOffset>(bytes).at(0));
  for (std::size_t r = 0; r < offsets.size(); ++r)
    offsets[r] = offsets[static_cast<std::size_t>(speakers.at(places[r]))];
  return offsets;
}

std::optional<double> HostClocks::unify(std::vector<Samples>& samples) {
  if (!compares_) return rank_.table().on_one_machine() ? std::optional(0.0) : std::nullopt;
  const std::vector<ClockOffset> after = compare();
  if (!rank_.is_first()) return std::nullopt;
  std::vector<ComparedClock> clocks;
  for (std::size_t r = 0; r < after.size(); ++r) clocks.push_back({before_[r], after[r]});
  return onto_one_clock(samples, clocks);
}

}  // namespace ccl_tests
