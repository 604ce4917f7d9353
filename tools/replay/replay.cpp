#include "tools/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/core/agreement.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/record/quantity_text.hpp"
#include "tools/replay/exchange.hpp"
#include "tools/replay/replayer.hpp"

namespace ccl_tests::replay {
namespace {

// The half of the usual --timeout: the peers of a rank whose clock jumps wait in their call meanwhile.
constexpr double longest_gap_s = 30;
constexpr std::string_view unless_buffered =
    "unless the library buffers, calls wait for each other for ever: ";

// Throws UsageError if the job has not as many ranks as it is asked to replay.
void require_ranks(const Rank& rank, const Arguments& a, int traced) {
  if (a.ranks > 0 && a.ranks != rank.ranks())
    throw UsageError(fmt::format("--ranks {}: the job has {}; accepted: as many as are started",
                                 a.ranks,
                                 counted(static_cast<std::uint64_t>(rank.ranks()), "rank")));
  if (a.ranks == 0 && rank.ranks() < traced)
    throw UsageError(fmt::format(
        "the traces are of {} ranks, the job has {}; accepted: as many (--np {}), or --ranks {} to replay on fewer",
        traced, rank.ranks(), traced, rank.ranks()));
}

// Throws UsageError on every rank if --timing original is asked for and a rank's trace has no times.
void require_times(Rank& rank, const RankPlan& plan) {
  const bool has_times =
      std::all_of(plan.calls.begin(), plan.calls.end(),
                  [](const PlannedCall& call) { return !std::isnan(call.start_s); });
  for (const std::string& text : rank.world().all_gather(has_times ? "1" : "0", rank.limit_s()))
    if (text == "0")
      throw UsageError(
          "--timing original: the traces have no times of calls; accepted: --timing tight");
}

// Throws UsageError on every rank if --inject names a size that no rank's calls have.
void require_size(Rank& rank, const Rows& rows) {
  const auto& fault = rank.process().options.inject;
  if (!fault || !fault->at_bytes) return;
  const bool is_there = std::ranges::any_of(
      rows, [&](const auto& row) { return row.first.bytes == *fault->at_bytes; });
  const auto all = rank.world().all_gather(is_there ? "1" : "0", rank.limit_s());
  if (std::ranges::find(all, "1") == all.end())
    throw UsageError(fmt::format("--inject: no call has {} B; accepted: bytes that --list shows",
                                 *fault->at_bytes));
}

// Throws UsageError if no group has calls. dropped: of a trace.
void require_calls(const std::vector<bool>& used, const Reasons& dropped) {
  if (std::find(used.begin(), used.end(), true) != used.end()) return;
  if (dropped.empty())
    throw UsageError("the traces have no calls; accepted: traces of ranks that communicate");
  throw UsageError(fmt::format("the traces have no calls that can be replayed; dropped: {} x {}",
                               dropped.begin()->second, dropped.begin()->first));
}

}  // namespace

int run(Rank& rank, const Arguments& a, verify::PatternCache& patterns, std::string& printed) {
  const std::vector<NamedValue> settings = {{"--trace", a.trace},
                                            {"--timing", std::string(name(a.timing))},
                                            {"--ranks", std::to_string(a.ranks)},
                                            {"--max-calls", std::to_string(a.max_calls)},
                                            {"--iters", std::to_string(a.passes)},
                                            {"--seed", std::to_string(a.options.check.seed)}};
  if (const auto why = disagreement(rank.world(), rank.limit_s(), "settings", settings))
    throw UsageError(*why);
  rank.activity().phase("reading the traces");
  const std::vector<TracePlace> places =
      exchange_places(rank.world(), rank.is_first() ? trace_places(a) : std::vector<TracePlace>());
  const int files = static_cast<int>(places.size());
  if (a.ranks > 0 || files > rank.ranks()) require_ranks(rank, a, files);
  const TracePlace place = place_of(a, places, rank.rank());
  rank.activity().phase("reading " + place.text());
  const RankTrace trace = read_trace(place, a.max_calls);
  rank.activity().phase("comparing the ranks' traces");
  const JobGroups groups = exchange_groups(rank.world(), trace);
  const int traced = std::max(files, groups.traced_ranks);
  require_ranks(rank, a, traced);
  Communicator& world = rank.connect(rank.world());
  RankPlan planned = plan(trace, groups, rank.rank());
  Outcome outcome;
  adapt(planned, world.capabilities(), outcome);
  const std::vector<bool> used = exchange_calls(rank.world(), groups, planned, rank.limit_s());
  require_calls(used, planned.dropped);
  const std::string waits = exchange_order(rank.world(), groups, planned, rank.limit_s());
  if (!waits.empty()) rank.process().log(fmt::format("{}{}", unless_buffered, waits));
  if (a.timing == Timing::original) require_times(rank, planned);
  count(outcome, trace, planned);
  require_size(rank, outcome.rows);
  if (a.timing == Timing::original && shorten_gaps(planned, longest_gap_s))
    outcome.assumed.insert(
        fmt::format("gaps of more than {:g} s between calls are of {:g} s (--timing original)",
                    longest_gap_s, longest_gap_s));

  Replayer replayer(rank, groups, planned, patterns, world, a.options.check.seed);
  replayer.connect(used);
  replayer.reserve();
  replayer.verify_all(outcome);
  outcome.timed = planned.calls.size() * static_cast<std::size_t>(a.passes);
  std::vector<double> seconds(planned.calls.size());
  for (int pass = 0; pass < a.passes; ++pass)
    outcome.pass_s += replayer.timed_pass(a.timing == Timing::original, seconds) / a.passes;
  for (std::size_t k = 0; k < planned.calls.size(); ++k)
    outcome.rows[row_key(planned.kinds[planned.calls[k].kind])].replayed_s += seconds[k] / a.passes;
  replayer.close();

  Outcome all;
  for (const std::string& text : rank.world().all_gather(to_text(outcome), rank.limit_s()))
    all.add(outcome_of(text));
  all.spoiled = rank.spoiled_text();
  if (rank.is_first()) {
    const Process& process = rank.process();
    printed = fmt::format("# ccl_replay: {}, {} {}, timing {}\n{}{}",
                          counted(static_cast<std::uint64_t>(rank.ranks()), "rank"),
                          process.backend.name(), process.backend.info().version, name(a.timing),
                          header_text(groups, rank.ranks(), traced), text_of(all, false));
  }
  return exit_code_of(all);
}

int list(const Arguments& a) {
  if (a.options.job.inject)
    throw UsageError("--inject: --list replays nothing; accepted: one or the other");
  const std::vector<TracePlace> places = trace_places(a);
  const int files = static_cast<int>(places.size());
  const int ranks = a.ranks > 0 ? std::min(a.ranks, files) : files;
  if (a.ranks > files)
    throw UsageError(fmt::format("--ranks {}: there are files of {}", a.ranks,
                                 counted(static_cast<std::uint64_t>(files), "rank")));
  std::vector<RankTrace> traces;
  std::vector<std::vector<TracedGroup>> traced;
  bool sampled = false;
  for (int r = 0; r < ranks; ++r) {
    traces.push_back(read_trace(place_of(a, places, r), a.max_calls));
    traced.push_back(traces.back().groups);
    sampled = sampled || traces.back().sampled;
  }
  const JobGroups groups = job_groups(traced);
  if (a.ranks == 0 && groups.traced_ranks > ranks)
    place_of(a, places, ranks);  // says which file is missing
  std::vector<RankPlan> plans;
  std::vector<Streams> all_streams;
  std::vector<bool> used(groups.groups.size());
  for (int r = 0; r < ranks; ++r) {
    plans.push_back(plan(traces[static_cast<std::size_t>(r)], groups, r));
    all_streams.push_back(streams(plans.back()));
    for (const auto& [key, calls] : all_streams.back()) used[key.group] = true;
  }
  require_calls(used, plans.front().dropped);
  const Agreement agreement = agree(all_streams, groups.groups, sampled);
  require_agreement(agreement);
  Outcome all;
  for (std::size_t r = 0; r < plans.size(); ++r) {
    apply(plans[r], agreement);
    count(all, traces[r], plans[r]);
  }
  require_order(cycle(plans, groups.groups, true));
  const std::string waits = cycle(plans, groups.groups, false);
  if (!waits.empty()) all.assumed.insert(fmt::format("{}{}", unless_buffered, waits));
  fmt::print("# ccl_replay --list: {}, nothing is replayed\n{}{}",
             counted(static_cast<std::uint64_t>(ranks), "rank"),
             header_text(groups, ranks, std::max(files, groups.traced_ranks)), text_of(all, true));
  return exit_code_of(all);
}

}  // namespace ccl_tests::replay
