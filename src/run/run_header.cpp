#include "src/run/run_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "src/bootstrap/launch.hpp"
#include "src/core/quote.hpp"
#include "src/devices/host_cpus.hpp"
#include "src/options/alltoallv_options.hpp"
#include "src/options/spec_notes.hpp"
#include "src/run/cpu_share.hpp"

namespace ccl_tests {
namespace {

std::vector<RankLine> rank_lines(const std::vector<RankIdentity>& ranks, const RankGroups& groups) {
  std::map<std::string, int> next_on;  // place
  std::vector<RankLine> lines;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    lines.push_back({static_cast<int>(r),
                     groups.group_of(static_cast<int>(r)),
                     ranks[r].pid,
                     ranks[r].host,
                     next_on[ranks[r].place()]++,
                     ranks[r].cpu,
                     {}});
    const DeviceIdentity& device = ranks[r].device;
    if (device.index < 0) continue;
    lines.back().device = device.index;
    lines.back().device_name = device.name;
    lines.back().bus_id = device.bus_id;
  }
  return lines;
}

// What distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.sweep.concurrent ? ", pairs at once" : "");
}

std::vector<std::string> pair_lines(const Options& o, const std::vector<PairRound>& rounds) {
  std::size_t pairs = 0;
  for (const PairRound& round : rounds) pairs += round.size();
  if (pairs == 0) return {};
  const char* const what =
      o.spec.bidirectional ? "a call in which both send at the same time" : "a round trip, halved";
  const std::string each =
      o.spec.window > 1 ? fmt::format(", divided by the {} messages of a window", o.spec.window)
                        : "";
  return {
      fmt::format("time: of one message one way: {}{}; bandwidths: of one direction", what, each),
      fmt::format("pairs: {}, in {} round{}, a row for each", pairs, rounds.size(),
                  rounds.size() == 1 ? "" : "s")};
}

}  // namespace

std::string ranks_per_host(const std::vector<RankIdentity>& ranks) {
  std::map<std::string, int> count;
  for (const RankIdentity& r : ranks) ++count[r.place()];
  if (count.size() < 2) return {};
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  const std::string each = fewest->second == most->second
                               ? fmt::format("{} on each", most->second)
                               : fmt::format("{} to {} on each", fewest->second, most->second);
  return fmt::format("{} ranks on {} hosts: {}", ranks.size(), count.size(), each);
}

RunInfo describe(const RankJob& job, const std::vector<RankIdentity>& ranks,
                 const RankGroups& groups, const std::vector<PairRound>& rounds,
                 const SizePlan& plan, const Communicator& communicator, const Device* gpu,
                 const std::vector<std::string>& left_out) {
  const Options& o = job.options;
  RunInfo run;
  run.program = fmt::format("{}_perf", job.collective.name);
  run.version = CCL_VERSION;
  run.backend = job.backend.name();
  run.library_version = job.backend.version();
  run.library_file = job.backend.library();
  run.arguments = job.arguments;
  for (const char* variable : {"NCCL_TESTS_MIN_BW",
                               "NCCL_TESTS_ALLTOALLV_SPREAD",
                               "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
                               "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE",
                               "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY",
                               "NCCL_TESTS_SPLIT",
                               "NCCL_TESTS_SPLIT_MASK",
                               "NCCL_TESTS_DEVICE",
                               "CUDA_VISIBLE_DEVICES",
                               "NCCL_ALGO",
                               "NCCL_PROTO",
                               "NCCL_IB_HCA",
                               "NCCL_NET",
                               "NCCL_SOCKET_IFNAME",
                               "NCCL_P2P_DISABLE",
                               "NCCL_SHM_DISABLE",
                               "NCCL_NVLS_ENABLE",
                               "NCCL_MIN_NCHANNELS",
                               "NCCL_MAX_NCHANNELS",
                               "NCCL_HOSTID",
                               "RANK",
                               "WORLD_SIZE",
                               "LOCAL_RANK",
                               "MASTER_ADDR",
                               "MASTER_PORT",
                               "TORCHELASTIC_RUN_ID",
                               "TORCHELASTIC_RESTART_COUNT"}) {
    if (const auto value = process_environment()(variable))
      run.environment.emplace_back(variable, *value);
  }
  run.launcher = job.launch.launcher;
  run.threads = o.job.threads.value_or(1);
  run.ranks_per_thread = o.job.ranks_per_thread.value_or(1);
  run.processes = job.launch.processes;
  run.ranks = static_cast<int>(ranks.size());
  run.min_bytes = o.sweep.sizes.empty()
                      ? o.sweep.min_bytes
                      : *std::min_element(o.sweep.sizes.begin(), o.sweep.sizes.end());
  run.max_bytes = o.sweep.sizes.empty()
                      ? o.sweep.max_bytes
                      : *std::max_element(o.sweep.sizes.begin(), o.sweep.sizes.end());
  run.step_bytes = o.sweep.step_bytes;
  run.step_factor = o.sweep.step_factor;
  run.sizes = o.sweep.sizes;
  run.warmup = o.measure.warmup;
  run.iterations = o.measure.iterations;
  run.aggregate = o.measure.aggregate;
  run.check = o.check.calls;
  run.average = o.measure.average;
  run.blocking = o.measure.blocking;
  run.cycles = o.sweep.cycles;
  run.unalign = o.sweep.unalign;
  run.parallel_init = o.job.parallel_init;
  run.cpu_time = o.measure.cpu_time;
  run.timestamps = o.output.timestamps;
  run.group_rows = o.sweep.group_rows;
  run.seed = o.check.seed;
  run.cpus_allowed = allowed_cpus();
  run.graph_launches = o.measure.graph_launches;
  run.per_iteration = o.measure.per_iteration;
  run.per_iteration_skip = o.measure.per_iteration_skip;
  run.notes = job.notes;
  if (!o.output.label.empty()) run.notes.push_back("label: " + quote(o.output.label));
  if (gpu != nullptr) run.notes.push_back(gpu->description());
  run.mode = mode_of(job.collective, o);
  if (!run.mode.empty()) run.notes.push_back("mode: " + run.mode);
  for (std::string& line : spec_notes(job.collective, o.spec)) run.notes.push_back(std::move(line));
  const std::string settings = spec_label(job.collective, o.spec);
  if (!settings.empty()) run.mode += (run.mode.empty() ? "" : ", ") + settings;
  for (std::string& line : pair_lines(o, rounds)) run.notes.push_back(std::move(line));
  run.pair_rows = rounds.size() > 1 || (!rounds.empty() && rounds.front().size() > 1);
  if (std::string line = ranks_per_host(ranks); !line.empty()) run.notes.push_back(std::move(line));
  if (std::string line = cpu_shortage(ranks, job.backend); !line.empty())
    run.notes.push_back(std::move(line));
  if (o.sweep.grouping.splits())
    run.notes.push_back(
        fmt::format("groups by '{}': {}, all at once; {}", o.sweep.grouping.text, groups.describe(),
                    o.sweep.group_rows ? "a row for each" : "rows show the slowest"));
  std::istringstream description(communicator.description());
  for (std::string line; std::getline(description, line);) run.notes.push_back(line);
  if (!plan.sizes.empty()) {
    const std::size_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
    for (std::string& line : alltoallv_summary(job.collective, o, groups.ranks_of(0), largest))
      run.notes.push_back(std::move(line));
  }
  for (const std::string& line : left_out) run.notes.push_back(line);
  run.reduced_max = plan.reduced_max;
  run.rank_lines = rank_lines(ranks, groups);
  run.start_time = local_time();
  return run;
}

}  // namespace ccl_tests
