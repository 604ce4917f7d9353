#include "src/run/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/devices/core_to_core.hpp"
#include "src/devices/process_counters.hpp"
#include "src/record/quantity_text.hpp"
#include "src/run/benchmark_runner.hpp"
#include "src/run/link_ceiling.hpp"
#include "src/run/memory_limit.hpp"
#include "src/run/moments.hpp"
#include "src/run/rank_facts.hpp"
#include "src/run/run_header.hpp"
#include "src/run/wire_check.hpp"

namespace ccl_tests {
namespace {

// Returns what the library on any rank does not support, which is left out if there is something
// else to do; why goes to `notes`. Collective. Throws Unsupported if nothing is left.
std::set<Kind> missing_kinds(Rank& rank, const std::vector<Kind>& kinds,
                             const Communicator& library, std::vector<std::string>& notes) {
  std::vector<std::string> own;
  for (const auto& [type, op] : kinds)
    own.push_back(library.capabilities().why_not(type, op).value_or(""));
  std::set<Kind> missing;
  const std::string mine = nlohmann::json(own).dump();
  for (const std::string& text : rank.world().all_gather(mine, rank.limit_s())) {
    const auto reasons = nlohmann::json::parse(text).get<std::vector<std::string>>();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::string& why = reasons.at(k);
      if (why.empty() || !missing.insert(kinds[k]).second) continue;
      if (std::find(notes.begin(), notes.end(), why) == notes.end()) notes.push_back(why);
    }
  }
  if (!kinds.empty() && missing.size() == kinds.size()) throw Unsupported(notes.at(0));
  for (std::string& note : notes) note = "left out: " + note;
  return missing;
}

// Before the library connects and after the last row all ranks but the first wait asleep in an
// exchange, so that the probe's two CPUs are its own. nullopt: not on this rank, one CPU only, or
// ranks that wait for CPUs, whose times the probe does not explain.
std::optional<double> probe_cpus(Rank& rank) {
  constexpr double probe_s = 0.005;
  const Process& process = rank.process();
  if (!rank.is_first() || rank.ranks() == 1 || process.options.simulated()) return std::nullopt;
  if (!rank.shortage().empty()) return std::nullopt;
  rank.activity().phase("probing how fast two CPUs exchange a cache line");
  return core_to_core(probe_s);
}

// Returns the process groups; of a paired collective the pairs, round by round.
std::vector<RankGroups> groups_of_rows(const Collective& collective, const Options& o,
                                       const RankGroups& groups) {
  if (!collective.domain.paired) return {groups};
  std::vector<RankGroups> all;
  for (const PairRound& round : pair_rounds(o.sweep.pairing, o.sweep.concurrent, groups.ranks()))
    all.push_back(as_groups(round, groups.ranks()));
  return all;
}

// Shares what is left of --time-budget among the times that are left; half as much again for each,
// as most need less.
class TimeBudget {
 public:
  TimeBudget(const Options& o, std::size_t points)
      : left_s_(o.measure.time_budget_s),
        given_(left_s_ > 0),
        times_of_point_(number_of(o.sweep.placements)),
        times_(times_of_point_ * points *
               static_cast<std::size_t>(std::max(1, o.sweep.cycles) * o.sweep.passes)) {}

  void grant(BenchmarkRunner& runner) const {
    if (given_) runner.set_budget(of_a_time());
  }
  // Returns what a time at one moment may take, `usual` without --time-budget.
  double of_a_moment(double usual) const {
    return given_ ? std::min(usual, of_a_time() / 4) : usual;
  }
  void spend(double seconds) {
    left_s_ = std::max(0.0, left_s_ - seconds);
    if (times_ > times_of_point_) times_ -= times_of_point_;
  }

 private:
  double of_a_time() const {
    constexpr double generous = 1.5;
    return generous * left_s_ / static_cast<double>(times_);
  }

  double left_s_;
  bool given_;
  std::size_t times_of_point_;
  std::size_t times_;
};

// Cycles until the time of --duration is over. Every function is collective over all ranks.
class SoakClock {
 public:
  // Begins now. duration_s: 0: there is none, and nothing is done.
  SoakClock(Rank& rank, double duration_s, RunResults& results)
      : rank_(rank), duration_s_(duration_s), results_(results) {}

  // Returns true when the time is over, by rank 0's clock. Once a minute rank 0 says how far it is,
  // and keeps what there is so far for the footer of a run that is ended sooner.
  bool is_over() {
    if (duration_s_ <= 0) return false;
    constexpr double each_s = 60;
    constexpr int goes_on = 0, over = 1, minute = 2;
    const double now = monotonic_seconds();
    const int state = rank_.agree(elapsed_s() >= duration_s_ ? over
                                  : now >= next_s_           ? minute
                                                             : goes_on);
    if (state == minute) {
      next_s_ = now + each_s;
      so_far_ = found();
      if (so_far_) results_.after_rows({.soak = so_far_});
      if (rank_.is_first() && elapsed_s() >= each_s) say_progress();
    }
    return state == over;
  }

  // Counts a complete cycle. Memory grows until the first one is.
  void end_cycle() {
    if (++cycles_ == 1) first_bytes_ = resident_bytes();
    if (!so_far_) return;
    so_far_->seconds = elapsed_s();
    so_far_->cycles = cycles_;
    results_.after_rows({.soak = so_far_});
  }

  // Returns what the time showed on rank 0; elsewhere, and without a duration, nothing.
  std::optional<Soak> found() const {
    if (duration_s_ <= 0) return std::nullopt;
    const double seconds = elapsed_s();
    const std::size_t now = resident_bytes();
    const std::size_t first = first_bytes_ > 0 ? first_bytes_ : now;
    const auto all = rank_.world().all_gather(fmt::format("{} {}", first, now), rank_.limit_s());
    if (!rank_.is_first()) return std::nullopt;
    Soak soak{.seconds = seconds, .cycles = cycles_};
    for (std::size_t r = 0; r < all.size(); ++r) {
      double before = 0, after = 0;
      std::istringstream(all[r]) >> before >> after;
      if (r > 0 && after - before <= soak.last_bytes - soak.first_bytes) continue;
      soak.rank = static_cast<int>(r);
      soak.first_bytes = before;
      soak.last_bytes = after;
    }
    return soak;
  }

 private:
  double elapsed_s() const { return monotonic_seconds() - start_s_; }
  void say_progress() const {
    const RunSummary counts = results_.so_far();
    rank_.process().log(fmt::format("{:.0f} of {:.0f} min: {}, {} of {} verified, {}, {:.1f} MiB",
                                    elapsed_s() / 60, duration_s_ / 60, counted(cycles_, "cycle"),
                                    counts.verified_calls, counted(counts.calls, "operation"),
                                    counted(counts.failed_checks, "wrong result"),
                                    static_cast<double>(resident_bytes()) / (1 << 20)));
  }

  Rank& rank_;
  double duration_s_;
  RunResults& results_;
  double start_s_ = monotonic_seconds(), next_s_ = start_s_;
  std::size_t cycles_ = 0;
  std::size_t first_bytes_ = 0;  // of this process, after the first cycle
  std::optional<Soak> so_far_;   // on rank 0
};

// Measures the points of a run, and hands their rows on.
struct PointSweep {
  BenchmarkRunner& runner;
  Rank& rank;
  const Collective& collective;
  const Options& o;
  const std::optional<Ceiling>& ceiling;
  RunResults& results;
  std::vector<SweepPoint> all;
  TimeBudget budget{o, all.size()};

  // Makes the job's first calls.
  void warm_up() {
    std::vector<SweepPoint> first = ends_of(all);
    // For one size, the row's own first call would do, but for its limit: GPUs connect in it.
    if (first.empty() && runner.communicator().gpu() != nullptr) first.push_back(all.front());
    for (const SweepPoint& point : first) {
      const PointRows found = runner.warm_up(collective, point);
      for (const std::string& line : found.wrong) rank.process().log(line);
      for (const Row& row : found.rows) results.first_call(row, point.bytes);
    }
  }
  // Returns the rows of a point, on rank 0.
  std::vector<Row> run(const SweepPoint& point) {
    budget.grant(runner);
    PointRows found = runner.run(collective, point);
    budget.spend(found.spent_s);
    for (const std::string& line : found.wrong) rank.process().log(line);
    return std::move(found.rows);
  }
  // Hands a row on, with what follows from its time.
  void add(Row& row, std::size_t requested, RowPlace place = {}) {
    row.timestamp = local_time();
    if (ceiling) add_efficiency(row, *ceiling, least_rounds(collective, o.spec, rank.ranks()));
    results.row(row, requested, place);
  }

  void run_passes() {
    for (int pass = 1; pass <= o.sweep.passes; ++pass)
      for (const std::size_t p : order_of_pass(all.size(), pass, o.sweep.passes, o.check.seed)) {
        std::size_t number = 0;
        for (Row& row : run(all[p])) {
          row.pass = pass;
          add(row, all[p].bytes, {p, number++});
        }
      }
  }

  // Measures each series of points at earlier moments, then its rows. Returns how far times repeat.
  std::optional<Repeatability> run_at_moments() {
    // Points that are of one type, operation and root follow one another.
    const auto same_kind = [](const SweepPoint& a, const SweepPoint& b) {
      return a.type == b.type && a.op == b.op && a.root == b.root;
    };
    std::vector<TimedTwice> apart;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && end - begin < longest_series && same_kind(all[begin], all[end]))
        ++end;
      const std::span<const SweepPoint> series(all.data() + begin, end - begin);
      SeriesMoments moments(runner, rank, collective, series,
                            budget.of_a_moment(SeriesMoments::usual_budget_s(rank)));
      moments.take_earlier();
      for (std::size_t p = 0; p < series.size(); ++p)
        for (Row& row : moments.settled(p, run(series[p]), o.measure.precision))
          add(row, series[p].bytes);
      apart.insert(apart.end(), moments.apart().begin(), moments.apart().end());
    }
    return repeatability(apart);
  }

  // Returns what the time of --duration showed.
  std::optional<Soak> run_cycles() {
    SoakClock soak(rank, o.sweep.duration_s, results);  // the first cycle is whole
    bool over = all.empty();
    for (int cycle = 0; !over && (o.sweep.cycles == 0 || cycle < o.sweep.cycles); ++cycle) {
      for (std::size_t p = 0; p < all.size() && !(over = cycle > 0 && soak.is_over()); ++p) {
        SweepPoint point = all[p];
        point.cycle = cycle;
        for (Row& row : run(point)) add(row, point.bytes);
      }
      if (!over) soak.end_cycle();
    }
    return soak.found();
  }
};

// Returns what times repeat by, or what the time of --duration showed.
AfterRows run_points(PointSweep sweep, const SweepRange& range) {
  const Options& o = sweep.o;
  if (!o.measure.warmup_given && !sweep.rank.process().options.simulated() && !sweep.all.empty())
    sweep.warm_up();
  if (o.sweep.passes > 1) {
    sweep.run_passes();
    return {};
  }
  // Every call that --inject counts or -c all promises to verify is one of a row. Rounds of pairs
  // are many, and compared with each other.
  const bool has_moments = o.sweep.cycles == 1 && sweep.runner.has_intervals() && !o.check.all &&
                           !o.job.inject && range.groups.size() == 1;
  if (has_moments) return {.repeats = sweep.run_at_moments()};
  return {.soak = sweep.run_cycles()};
}

}  // namespace

int sweep(Rank& rank, const Collective& collective, const Options& o,
          verify::PatternCache& patterns, RunResults& results) {
  const Process& process = rank.process();
  const RankGroups groups(o.sweep.grouping, rank.table().places());
  check_groups(collective, o, groups);
  SweepRange range{o.sweep.types, {}, {}, groups_of_rows(collective, o, groups), {}};
  // Free memory is looked up for -M alone.
  const auto free_bytes = [&] { return o.gpu.memory_report ? rank.device().available() : 0; };
  MemoryUse memory{.before = free_bytes()};
  const std::optional<double> exchange_s = probe_cpus(rank);
  if (!process.options.simulated()) rank.meet();
  rank.activity().phase("connecting the library under test");
  const WireCheck wires;
  BenchmarkRunner runner(rank, o, groups, patterns);
  memory.connected = free_bytes();
  const RankTable table = table_with_free_memory(rank);
  rank.activity().phase("planning the rows");
  const SizePlan plan = plan_sizes(collective, o, table, range.groups.front(),
                                   process.staging.buffers, process.backend.info());
  range.sizes = plan.sizes;
  range.slots = plan.slots;
  std::vector<std::string> left_out;
  if (const auto why = runner.communicator().capabilities().why_not(operations_of(collective)))
    throw Unsupported(*why);
  range.skipped = missing_kinds(rank, kinds_of(collective, o), runner.communicator(), left_out);
  std::size_t largest = 0;
  for (const std::size_t bytes : range.sizes) largest = std::max(largest, bytes);
  const LinkCeiling ceiling = link_ceiling(rank, runner, o, table, largest);
  const std::vector<std::string> differ = rank_differences(rank);
  if (rank.is_first())
    results.begin(
        describe(rank, collective, o,
                 {groups, range, plan.reduced_max, runner, left_out, exchange_s, ceiling, differ}));
  runner.reserve(collective, range);
  memory.allocated = free_bytes();
  if (!process.options.simulated()) rank.meet();  // no process still takes memory
  const CpuTimes before = cpu_times(counter_scope(rank.table(), rank.rank()));
  AfterRows found = run_points(
      {runner, rank, collective, o, ceiling.known, results, points(collective, o, range)}, range);
  const auto keep = [&] {
    if (rank.is_first()) results.after_rows(found);
  };
  keep();
  if (!process.options.simulated()) found.cpu_use = cpu_use(rank, before);
  if (!process.options.simulated()) wires.judge(rank, runner.communicator(), found);
  found.core_to_core = probe_cpus(rank);
  keep();
  found.spoiled = rank.spoiled_text();
  keep();
  if (o.gpu.memory_report)
    found.memory = memory_line(rank.world(), memory, rank.device().available(), rank.limit_s());
  keep();
  runner.close();
  return rank.agree(results.verdict());
}

}  // namespace ccl_tests
