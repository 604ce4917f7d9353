#include "src/run/run_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "src/core/version.hpp"
#include "src/options/settings.hpp"
#include "src/options/values.hpp"
#include "src/record/quantity_text.hpp"
#include "src/run/rank_facts.hpp"

namespace ccl_tests {
namespace {

std::vector<RankLine> rank_lines(const std::vector<RankIdentity>& ranks, const RankGroups& groups) {
  std::map<std::string, int> next_on;  // place
  std::vector<RankLine> lines;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const int rank = static_cast<int>(r);
    const DeviceIdentity& gpu = ranks[r].device;
    const int on_host = next_on[ranks[r].place()]++;
    RankLine& line = lines.emplace_back(
        RankLine{rank, groups.group_of(rank), ranks[r].pid, ranks[r].host, on_host, ranks[r].cpu});
    if (gpu.index < 0) continue;
    line.device = gpu.index;
    line.device_name = gpu.name;
    line.bus_id = gpu.bus_id;
  }
  return lines;
}

// Returns nullopt for a run without end.
std::optional<std::size_t> planned_rows(const Collective& collective, const Options& o,
                                        const SweepRange& range) {
  if (o.sweep.cycles == 0) return std::nullopt;
  const bool each_group = o.sweep.group_rows || collective.domain.paired;
  std::size_t rows = 0;
  for (const SweepPoint& point : points(collective, o, range))
    rows += each_group ? static_cast<std::size_t>(point.groups->number()) : 1;
  return static_cast<std::size_t>(o.sweep.cycles) * rows;
}

// Returns the smallest and the largest size that the user named.
std::pair<std::size_t, std::size_t> asked_range(const SweepOptions& o) {
  if (o.sizes.empty()) return {o.min_bytes, o.max_bytes};
  const auto [least, most] = std::minmax_element(o.sizes.begin(), o.sizes.end());
  return {*least, *most};
}

}  // namespace

std::string placement(const std::vector<RankIdentity>& ranks, int processes) {
  std::map<std::string, int> count;
  for (const RankIdentity& r : ranks) ++count[r.place()];
  const auto all = static_cast<int>(ranks.size());
  std::string text = fmt::format("{} process{} on {}", processes, processes == 1 ? "" : "es",
                                 counted(count.size(), "host"));
  if (processes < all) text = fmt::format("{} of {}", counted(ranks.size(), "thread"), text);
  if (count.size() < 2) return text;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  return text + (fewest->second == most->second
                     ? fmt::format(", {} on each", most->second)
                     : fmt::format(", {} to {} on each", fewest->second, most->second));
}

RunInfo describe(const Rank& rank, const Collective& collective, const Options& o,
                 const HeaderFacts& facts) {
  const Process& process = rank.process();
  const std::vector<RankIdentity>& ranks = rank.table().ranks;
  RunInfo run;
  run.options = o;
  std::random_device device;
  std::uniform_int_distribution<std::uint64_t> any;
  run.run_id = fmt::format("{:016x}", any(device));
  run.program = fmt::format("{}_perf", collective.name);
  run.version = version();
  run.backend = process.backend.name();
  run.library_version = process.backend.info().version;
  run.library_file = process.backend.info().library;
  run.library_known_as = process.backend.info().known_as;
  run.arguments = typed_arguments(process);
  run.settings = recorded_settings(collective, o);
  run.unusual = unusual_settings(collective, o);
  run.environment = recorded_environment(process.launch.by_np());
  run.rank_differences = facts.rank_differences;
  run.launcher = process.launch.launcher;
  std::tie(run.min_bytes, run.max_bytes) = asked_range(o.sweep);
  run.threads = process.options.threads.value_or(1);
  run.ranks_per_thread = process.options.ranks_per_thread.value_or(1);
  run.processes = process.launch.processes;
  run.ranks = static_cast<int>(ranks.size());
  if (facts.runner.has_intervals()) run.precision = o.measure.precision;
  run.clock = o.measure.cpu_time ? "cpu" : "wall";
  run.cpus_allowed = ranks.front().cpus;  // before --bind
  const ClockProperties& clock = facts.runner.clock();
  if (clock.cost_s > 0) run.clock_cost = clock.cost_s;
  if (clock.resolution_s > 0) run.clock_resolution = clock.resolution_s;
  run.core_to_core = facts.core_to_core;
  run.oversubscribed = !rank.shortage().empty();
  if (!collective.needs.synchronizes) {
    run.cache = name(facts.range.slots.use);
    run.cache_footprint = footprint_to_be_had(facts.range.slots);
  }
  run.ceiling = facts.ceiling.known;
  run.ceiling_source = facts.ceiling.source;
  run.mode = mode_of(collective, o);
  run.notes = notes_of(rank, collective, o, facts);
  const std::string settings = spec_label(collective, o.spec);
  if (!settings.empty()) run.mode += (run.mode.empty() ? "" : ", ") + settings;
  const std::vector<RankGroups>& rounds = facts.range.groups;
  run.pair_rows = collective.domain.paired && (rounds.size() > 1 || rounds.front().number() > 1);
  run.planned_rows = planned_rows(collective, o, facts.range);
  run.placement = placement(ranks, process.launch.processes);
  run.reduced_max = facts.reduced_max;
  run.rank_lines = rank_lines(ranks, facts.groups);
  run.start_time = local_time();
  return run;
}

}  // namespace ccl_tests
