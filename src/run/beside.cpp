#include "src/run/beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "src/core/error.hpp"
#include "src/job/rank_cpus.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {
namespace {

std::size_t bytes_of(const Rank& rank, LoadKind kind) {
  const std::vector<RankIdentity>& all = rank.table().ranks;
  const RankIdentity& me = rank.table()[rank.rank()];
  const auto here = std::count_if(all.begin(), all.end(),
                                  [&](const RankIdentity& r) { return r.machine == me.machine; });
  return load_bytes(kind, me.last_cache, static_cast<std::size_t>(here));
}

// The rank's load, whose waits the watchdog ends.
class WatchedLoad : public Load {
 public:
  WatchedLoad(Load& load, Activity& activity, double limit_s)
      : load_(load), activity_(activity), limit_s_(limit_s) {}
  void resume() override {
    activity_.expect(limit_s_);
    load_.resume();
    activity_.expect(limit_s_);
  }
  void pause() override {
    activity_.expect(limit_s_);
    load_.pause();
    activity_.expect(0);
  }
  double done_at(double seconds) const override { return load_.done_at(seconds); }

 private:
  Load& load_;
  Activity& activity_;
  double limit_s_;
};

std::string to_text(const std::vector<BesideRound>& rounds) {
  std::string text;
  for (const BesideRound& r : rounds)
    text += fmt::format("{} {} {} {}\n", r.alone_s, r.both_s, r.load_alone, r.load_both);
  return text;
}

std::vector<BesideRound> rounds_of(const std::string& text) {
  std::vector<BesideRound> rounds;
  std::istringstream in(text);
  for (BesideRound r; in >> r.alone_s >> r.both_s >> r.load_alone >> r.load_both;)
    rounds.push_back(r);
  return rounds;
}

// Returns the plan, with calls beside the load that last as long as calls alone.
BesidePlan agreed_plan(const BesideSetup& setup, Barrier& barrier, Load& load) {
  ControlChannel& world = setup.rank.world();
  const double exchange_s = setup.limits.exchange_s;
  constexpr std::size_t fewer = 8;  // calls may be far slower beside the load
  const std::size_t first =
      std::max<std::size_t>(1, calls_of_block(setup.call_s, setup.most_calls) / fewer);
  const auto calls =
      static_cast<std::size_t>(std::stoull(world.broadcast(fmt::format("{}", first), exchange_s)));
  double work = 0;
  const double mine = take_both(calls, setup.workload, barrier, setup.clock, load, work);
  double both_s = 0;
  for (const std::string& seconds : world.gather(fmt::format("{}", mine), exchange_s))
    both_s = std::max(both_s, std::stod(seconds));
  const BesidePlan own = plan_beside(setup.call_s, both_s, setup.most_calls, setup.budget_s);
  std::istringstream in(world.broadcast(
      fmt::format("{} {} {} {}", own.alone_calls, own.both_calls, own.load_s, own.rounds),
      exchange_s));
  BesidePlan plan;
  in >> plan.alone_calls >> plan.both_calls >> plan.load_s >> plan.rounds;
  return plan;
}

}  // namespace

std::unique_ptr<Load> start_load(const Rank& rank, LoadKind kind) {
  std::unique_ptr<Device> gpu;
  if (kind == LoadKind::copy) {
    if (rank.gpu() == nullptr)
      throw Unsupported(
          "--beside: copy needs a GPU, and this job uses none; accepted: cpu, memory");
    gpu = rank.process().staging.gpus->open(rank.gpu()->info().index);
  }
  return start_load(kind, bytes_of(rank, kind), std::move(gpu));
}

std::string beside_note(const Rank& rank, LoadKind kind) {
  const std::string shortage = cpu_shortage(rank.table().ranks, rank.process().backend, true);
  return fmt::format("beside {}: {}, on a thread of each rank that shares the rank's CPUs; {}",
                     name(kind), about(kind, bytes_of(rank, kind)),
                     shortage.empty() ? "each busy thread has a CPU" : shortage);
}

double seconds_of_call(const Problem& p, const std::vector<Row>& rows) {
  const auto trips = static_cast<double>(p.layout.legs * p.layout.messages);
  double longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.first_measured().max_seconds);
  return longest * trips;
}

std::vector<std::vector<BesideRound>> take_rounds(const BesideSetup& setup) {
  WorldBarrier barrier(setup.world, setup.rank);
  WatchedLoad load(setup.load, setup.rank.activity(), setup.limits.operation_s);
  const BesidePlan plan = agreed_plan(setup, barrier, load);
  std::vector<BesideRound> mine;
  for (std::size_t k = 0; k < plan.rounds; ++k)
    mine.push_back(take_round(plan, setup.workload, barrier, setup.clock, load));
  std::vector<std::vector<BesideRound>> ranks;
  for (const std::string& text : setup.rank.world().gather(to_text(mine), setup.limits.exchange_s))
    ranks.push_back(rounds_of(text));
  return ranks;
}

}  // namespace ccl_tests
