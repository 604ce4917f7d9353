#include "src/run/run_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "src/bootstrap/launch.hpp"
#include "src/devices/host_cpus.hpp"
#include "src/options/spec_notes.hpp"
#include "src/run/header_notes.hpp"
#include "src/run/rank_run.hpp"

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

// 16 hexadecimal digits, so that rows of many runs can be told apart.
std::string random_id() {
  std::random_device device;
  std::uniform_int_distribution<std::uint64_t> any;
  return fmt::format("{:016x}", any(device));
}

// Returns nullopt for a run without end.
std::optional<std::size_t> planned_rows(const RankJob& job, const RankGroups& groups,
                                        const std::vector<PairRound>& rounds,
                                        const SizePlan& plan) {
  const Options& o = job.options;
  if (o.cycles == 0) return std::nullopt;
  std::size_t each = o.group_rows ? static_cast<std::size_t>(groups.number()) : 1;
  if (job.collective.paired) {
    each = 0;
    for (const PairRound& round : rounds) each += round.size();
  }
  std::size_t roots = 1;
  if (job.collective.rooted)
    roots = o.all_roots ? static_cast<std::size_t>(groups.smallest()) : o.roots.size();
  return static_cast<std::size_t>(o.cycles) * kinds_of(job.collective, o).size() * roots *
         plan.sizes.size() * each;
}

}  // namespace

std::string placement(const std::vector<RankIdentity>& ranks, int processes) {
  std::map<std::string, int> count;
  for (const RankIdentity& r : ranks) ++count[r.place()];
  const auto all = static_cast<int>(ranks.size());
  const auto plural = [](std::size_t n, const char* what, const char* ending) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : ending);
  };
  std::string text = plural(static_cast<std::size_t>(processes), "process", "es");
  if (processes < all)
    text = fmt::format("{} of {}", plural(static_cast<std::size_t>(all), "thread", "s"), text);
  text += " on " + plural(count.size(), "host", "s");
  if (count.size() < 2) return text;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  return text + (fewest->second == most->second
                     ? fmt::format(", {} on each", most->second)
                     : fmt::format(", {} to {} on each", fewest->second, most->second));
}

RunInfo describe(const RankJob& job, const std::vector<RankIdentity>& ranks,
                 const RankGroups& groups, const std::vector<PairRound>& rounds,
                 const SizePlan& plan, const Communicator& communicator, const Device* gpu,
                 const std::vector<std::string>& left_out) {
  const Options& o = job.options;
  RunInfo run;
  run.run_id = random_id();
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
      run.environment.push_back(fmt::format("{}={}", variable, *value));
  }
  run.launcher = job.launch.launcher;
  run.threads = o.threads.value_or(1);
  run.ranks_per_thread = o.ranks_per_thread.value_or(1);
  run.processes = job.launch.processes;
  run.ranks = static_cast<int>(ranks.size());
  run.min_bytes = o.sizes.empty() ? o.min_bytes : *std::min_element(o.sizes.begin(), o.sizes.end());
  run.max_bytes = o.sizes.empty() ? o.max_bytes : *std::max_element(o.sizes.begin(), o.sizes.end());
  run.step_bytes = o.step_bytes;
  run.step_factor = o.step_factor;
  run.sizes = o.sizes;
  run.warmup = o.warmup;
  run.iterations = o.iterations;
  run.aggregate = o.aggregate;
  run.check = o.check;
  run.average = o.average;
  run.blocking = o.blocking;
  run.cycles = o.cycles;
  run.unalign = o.unalign;
  run.parallel_init = o.parallel_init;
  run.clock = o.cpu_time ? "cpu" : "wall";
  run.timestamps = o.timestamps;
  run.group_rows = o.group_rows;
  run.seed = o.seed;
  run.cpus_allowed = allowed_cpus();
  run.graph_launches = o.graph_launches;
  run.per_iteration = o.per_iteration;
  run.per_iteration_skip = o.per_iteration_skip;
  run.mode = mode_of(job.collective, o);
  run.notes = notes_of(job, ranks, groups, rounds, plan, communicator, gpu, left_out);
  const std::string settings = spec_label(job.collective, o.spec);
  if (!settings.empty()) run.mode += (run.mode.empty() ? "" : ", ") + settings;
  run.pair_rows = rounds.size() > 1 || (!rounds.empty() && rounds.front().size() > 1);
  if (left_out.empty()) run.planned_rows = planned_rows(job, groups, rounds, plan);
  run.placement = placement(ranks, job.launch.processes);
  run.reduced_max = plan.reduced_max;
  run.rank_lines = rank_lines(ranks, groups);
  run.start_time = local_time();
  return run;
}

}  // namespace ccl_tests
