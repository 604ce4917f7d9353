// What ranks exchange while a row is measured: steps, samples, findings; how they compare their
// clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/communicator.hpp"
#include "src/devices/process_counters.hpp"
#include "src/job/rank.hpp"
#include "src/measure/clocks.hpp"
#include "src/measure/measurement.hpp"
#include "src/options/rank_groups.hpp"
#include "src/record/record.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {

// Returns what `rank` counts: the first rank of a process its events, the first rank of a machine
// the steal of the CPUs of all ranks there. Pure.
CounterScope counter_scope(const RankTable& table, int rank);

// Returns the use of the ranks' CPUs on the machine where other programs used the largest share.
// ranks: what each rank counted in a while. nullopt if nobody counted CPUs, or for less than a
// second, whose ticks are too few. Pure.
std::optional<CpuUse> most_crowded(const RankTable& table, const std::vector<CpuTimes>& ranks);

// Returns most_crowded() since `before`, which is the rank's cpu_times(), on rank 0; nullopt on the
// others. A machine with a cgroup's quota is not counted: who runs on its other CPUs takes nothing
// of it. Collective. Throws Error, Timeout.
std::optional<CpuUse> cpu_use(Rank& rank, const CpuTimes& before);

// The findings of one rank: wrong elements, calls, and what the calls took.
struct RankReport : verify::Mismatch {
  std::uint64_t calls = 0, verified = 0;
  StepTimes steps;                // of a composite, seconds per timed call
  std::vector<double> intervals;  // seconds of each timed iteration (-I)
  std::vector<double> barrier;    // barrier_perf: when this rank entered, left, entered, ...
  std::vector<Evidence> blocks;   // what happened in each timed block; empty: not counted
  std::string algorithm;          // that the library chose (--show-algorithm)
};

std::string to_text(const RankReport& report);
RankReport rank_report(std::string_view text);  // throws Error
// Returns all ranks' reports on rank 0, none elsewhere. limit_s: of the exchange. Collective.
std::vector<RankReport> gather_reports(Rank& rank, const RankReport& mine, double limit_s);

// Durations travel, moments do not: samples_of() returns samples that start at 0.
std::string to_text(const Samples& samples);
Samples samples_of(std::string_view text);  // throws Error

// Moments of entry and exit travel, exactly; when calls were issued does not.
std::string moments_to_text(const Samples& samples);
Samples samples_of_moments(std::string_view text);  // throws Error

// Lets rank 0 decide; steps and samples travel over the control channel.
class ChannelCoordinator : public Coordinator {
 public:
  // row: what is measured, for messages. moments: those of samples travel, not their durations
  // alone. limit_s: of one exchange.
  ChannelCoordinator(Rank& rank, std::string row, bool moments, double limit_s)
      : rank_(rank), row_(std::move(row)), moments_(moments), limit_s_(limit_s) {}

  Step agree(const Step& decision) override;
  std::vector<Samples> gather(const Samples& mine) override;

 private:
  Rank& rank_;
  std::string row_;
  bool moments_;
  double limit_s_;
};

// The barrier of all ranks before rows, whatever group they are in.
class WorldBarrier : public Barrier {
 public:
  WorldBarrier(Communicator& world, Rank& rank)
      : world_(world), activity_(rank.activity()), self_{rank.rank(), rank.ranks()} {}
  void wait() override {
    inside_library(activity_, [&] { world_.timing_barrier(self_); });
  }

 private:
  Communicator& world_;
  Activity& activity_;
  GroupRank self_;
};

// Compares, within each group, when its ranks entered and left the calls of RankReport::barrier, by
// one clock. Sets `wrong` of each rank's report to the number of calls that the rank left before
// the last rank had entered, and `explanation` to the first of them. reports: of all ranks; empty
// on all ranks but the first, and left so.
void judge_barriers(const RankGroups& groups, std::vector<RankReport>& reports);

// Compares what ranks of a group must have in common, where they received the same blocks of a
// reduction: Mismatch::digest. Adds a finding to the report of each rank that differs from the first
// one. reports: of all ranks; empty on all ranks but the first, and left so.
void judge_agreement(const RankGroups& groups, std::vector<RankReport>& reports);

// Compares the machines' clocks before and after a cell is measured: one rank of each sends rank 0
// a few messages of the library under test. Used by the rank's thread; collective over all ranks.
class HostClocks {
 public:
  // Compares for the first time, if `wanted` and buffers lie on hosts; otherwise never. world: of
  // all ranks. limit_s: of an exchange over the control channel. All must outlive it.
  HostClocks(Rank& rank, Communicator& world, bool wanted, double limit_s);

  // Compares again, and moves the moments of all ranks' samples, which rank 0 has, onto its clock.
  // Returns by how many seconds a moment may be wrong. nullopt: on other ranks, or not compared.
  std::optional<double> unify(std::vector<Samples>& samples);

 private:
  std::vector<ClockOffset> compare();

  Rank& rank_;
  Communicator& world_;
  double limit_s_;
  bool compares_;
  std::vector<ClockOffset> before_;  // on rank 0, by rank
};

}  // namespace ccl_tests
