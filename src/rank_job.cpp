#include "src/rank_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "src/alltoallv_options.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/host.hpp"
#include "src/devices/host_memory.hpp"
#include "src/devices/staged.hpp"
#include "src/memory_limit.hpp"
#include "src/rank_run.hpp"
#include "src/settings.hpp"
#include "src/spec_notes.hpp"

namespace ccl {
namespace {

// What every rank tells all others before anything is measured.
struct Identity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // available to its buffers, with all ranks that share it
  DeviceIdentity device = {};

  static Identity mine() {
    return {this_host(), machine_id(), cpu_model(), static_cast<long>(getpid()),
            available_memory()};
  }
  // Containers and network namespaces of one kernel are hosts of their own.
  std::string place() const { return host + ' ' + machine; }
  std::string text() const { return nlohmann::json{host, machine, cpu, pid, memory}.dump(); }
  static Identity from(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
  }
  std::string shares_memory_with() const {
    return device.unique_id.empty() ? machine : device.unique_id;
  }
};

std::vector<Identity> meet(Bootstrap& bootstrap, double limit_s) {
  std::vector<Identity> all;
  for (const std::string& text : bootstrap.exchange(Identity::mine().text(), limit_s))
    all.push_back(Identity::from(text));
  return all;
}

bool on_one_machine(const std::vector<Identity>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const Identity& r) { return r.machine == ranks[0].machine; });
}

// Bytes of one rank's buffer that every machine can hold twice for each of its ranks, beside what
// the library takes.
std::size_t memory_per_buffer(const std::vector<Identity>& ranks, double scratch) {
  std::map<std::string, std::size_t> ranks_on;
  for (const Identity& r : ranks) ++ranks_on[r.shares_memory_with()];
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const Identity& r : ranks)
    limit = std::min(limit, buffer_limit(r.memory, ranks_on[r.shares_memory_with()], scratch));
  return limit;
}

std::vector<std::string> places(const std::vector<Identity>& ranks) {
  std::vector<std::string> result;
  for (const Identity& r : ranks) result.push_back(r.place());
  return result;
}

// What fits for the groups of every size.
SizePlan plan_sizes(const RankJob& job, const std::vector<Identity>& ranks, const Groups& groups) {
  const auto all = static_cast<int>(ranks.size());
  const std::size_t limit = memory_per_buffer(ranks, job.backend.scratch_factor(all));
  SizePlan least;
  for (const int n : groups.distinct_sizes()) {
    SizePlan plan = limit_sizes(job.collective, job.options, n, limit);
    if (least.sizes.empty() || plan.sizes.size() < least.sizes.size()) least = std::move(plan);
  }
  return least;
}

Seat seat_of(const std::vector<Identity>& ranks, int rank) {
  const Identity& me = ranks[static_cast<std::size_t>(rank)];
  Seat seat{0, 0, 0, 0};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].place() != me.place()) continue;
    const bool before = static_cast<int>(r) < rank;
    const bool same = ranks[r].pid == me.pid;
    seat.ranks_on_host += 1;
    seat.on_host += before ? 1 : 0;
    seat.ranks_in_process += same ? 1 : 0;
    seat.in_process += before && same ? 1 : 0;
  }
  return seat;
}

// What the launcher or the user says that every host has.
std::pair<int, std::string> promised_gpus(const Options& o) {
  if (o.expect_gpus) return {*o.expect_gpus, fmt::format("--expect-gpus {}", *o.expect_gpus)};
  const auto slurm = process_environment()("SLURM_GPUS_ON_NODE");
  if (!slurm || slurm->find_first_not_of("0123456789") != std::string::npos) return {0, {}};
  return {std::atoi(slurm->c_str()), "SLURM_GPUS_ON_NODE=" + *slurm};
}

// Opens this rank's GPU and hears of the others'. Collective.
Device* open_gpu(RankJob& job, Bootstrap& bootstrap, std::vector<Identity>& ranks) {
  const Devices* const gpus = job.placement.gpus;
  if (gpus == nullptr) return nullptr;
  const Options& o = job.options;
  const bool share = o.backend_options.share_devices;
  const int visible = gpus->count();
  Device& gpu = job.open.keep(
      gpus->open(choose_device(seat_of(ranks, bootstrap.rank()), visible, o.first_device, share)));
  const std::string mine =
      nlohmann::json{gpu.index(), visible, gpu.name(), gpu.bus_id(), gpu.unique_id()}.dump();
  const auto all = bootstrap.exchange(mine, o.init_timeout_s);
  std::vector<DeviceIdentity> devices;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto json = nlohmann::json::parse(all[r]);
    ranks[r].device = devices.emplace_back(
        DeviceIdentity{json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)});
  }
  const auto [promised, by] = promised_gpus(o);
  check_devices(devices, places(ranks), share, promised, by);
  return &gpu;
}

// A GPU's memory is what is free once the library has taken its own. Collective.
void learn_free_memory(const RankJob& job, Bootstrap& bootstrap, Device* gpu,
                       std::vector<Identity>& ranks) {
  if (job.placement.buffers == Memory::host) {
    for (Identity& rank : ranks) rank.device.unique_id.clear();  // the machine's is shared
    return;
  }
  const auto all = bootstrap.exchange(std::to_string(gpu->available()), job.options.init_timeout_s);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].memory = std::stoull(all[r]);
}

std::unique_ptr<Communicator> staged(const Placement& placement,
                                     std::unique_ptr<Communicator> library, Device& gpu,
                                     Device& host) {
  Device& library_side = placement.buffers == Memory::host ? gpu : host;
  return stage(std::move(library), placement.buffers, library_side, gpu);
}

Communicator& set_up(RankJob& job, std::unique_ptr<Communicator> library, Device* gpu) {
  if (job.placement.staged) {
    Device& host = job.open.keep(host_devices().open(0));
    library = staged(job.placement, std::move(library), *gpu, host);
  }
  library->set_time_limit(job.options.timeout_s);
  return job.open.add(std::move(library));
}

}  // namespace

Communicator& connect(RankJob& job, Bootstrap& bootstrap, Device* gpu, Pulse& pulse) {
  const Options& o = job.options;
  const Watched watched(pulse, o.init_timeout_s + 5);  // later than the library's own limit
  BackendOptions options = o.backend_options;
  options.device = gpu;
  return set_up(job, job.backend.connect(bootstrap, options), gpu);
}

Device* meet_devices(RankJob& job, Bootstrap& bootstrap) {
  std::vector<Identity> ranks = meet(bootstrap, job.options.init_timeout_s);
  return open_gpu(job, bootstrap, ranks);
}

namespace {

// What the library on any rank's GPU has not, which is left out where there is something else to
// do. Collective. Throws Unsupported where nothing is left.
std::set<Kind> missing_kinds(const RankJob& job, Bootstrap& bootstrap, const Communicator& library,
                             std::vector<std::string>& notes) {
  const std::vector<Kind> kinds = kinds_of(job.collective, job.options);
  nlohmann::json mine = nlohmann::json::array();
  for (const auto& [type, op] : kinds) mine.push_back(library.unsupported(type, op).value_or(""));
  std::set<Kind> missing;
  std::set<std::string> reasons;
  for (const std::string& text : bootstrap.exchange(mine.dump(), job.options.init_timeout_s)) {
    const auto json = nlohmann::json::parse(text);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (json.at(k) == "") continue;
      missing.insert(kinds[k]);
      reasons.insert(json.at(k));
    }
  }
  if (missing.size() == kinds.size()) throw Unsupported(*reasons.begin());
  for (const std::string& reason : reasons) notes.push_back("left out: " + reason);
  return missing;
}

// The communicator of this rank's group: made by the library from the world's, where it can. A
// staged one stays so.
Communicator& connect_group(RankJob& job, Communicator& world, Bootstrap& group,
                            const Groups& groups, int rank, Device* gpu, Pulse& pulse) {
  std::unique_ptr<Communicator> part;
  {
    const Watched watched(pulse, job.options.init_timeout_s + 5);
    part = world.split(groups.group_of(rank), groups.rank_in_group(rank));
  }
  if (!part) return connect(job, group, gpu, pulse);
  part->set_time_limit(job.options.timeout_s);
  return job.open.add(std::move(part));
}

// This rank's group; null where all ranks are one in their own order.
std::unique_ptr<Bootstrap> split(Bootstrap& world, const Groups& groups, double limit_s) {
  if (groups.number() == 1 && std::is_sorted(groups.members(0).begin(), groups.members(0).end()))
    return nullptr;
  const int rank = world.rank();
  return world.split(groups.group_of(rank), groups.rank_in_group(rank), limit_s);
}

std::vector<RankLine> rank_lines(const std::vector<Identity>& ranks, const Groups& groups) {
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

// "8 ranks on 2 hosts: 4 on each", or from the fewest to the most.
std::string ranks_per_host(const std::vector<Identity>& ranks) {
  std::map<std::string, int> count;
  for (const Identity& r : ranks) ++count[r.place()];
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  const std::string each = fewest->second == most->second
                               ? fmt::format("{} on each", most->second)
                               : fmt::format("{} to {} on each", fewest->second, most->second);
  return fmt::format("{} ranks on {} hosts: {}", ranks.size(), count.size(), each);
}

// Free bytes of a rank's device: before the library connected, after it, and with the buffers.
struct MemoryUse {
  std::size_t before, connected, allocated;
};

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "KB", "MB"}) {
    if (bytes < 1024) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1024;
  }
  return fmt::format("{:.4g} GB", bytes);
}

// nccl-tests' -M line, of the rank that uses most. Collective.
std::string memory_line(Bootstrap& bootstrap, const MemoryUse& use, std::size_t at_end,
                        double limit_s) {
  const auto used = [](std::size_t before, std::size_t after) {
    return before > after ? before - after : 0;
  };
  const nlohmann::json mine{used(use.before, use.connected), used(use.connected, use.allocated),
                            used(use.allocated, at_end)};
  double most = -1;
  std::string line;
  for (const std::string& text : bootstrap.exchange(mine.dump(), limit_s)) {
    const auto json = nlohmann::json::parse(text);
    const double parts[] = {json.at(0), json.at(1), json.at(2)};
    const double total = parts[0] + parts[1] + parts[2];
    if (total <= most) continue;
    most = total;
    line = fmt::format(
        "GPU memory usage     : Initialization {} | User-Allocated {} | Collective {} | Total {}",
        bytes_text(parts[0]), bytes_text(parts[1]), bytes_text(parts[2]), bytes_text(total));
  }
  return line;
}

// What distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.concurrent ? ", pairs at once" : "");
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

RunRecord describe(const RankJob& job, const std::vector<Identity>& ranks, const Groups& groups,
                   const std::vector<PairRound>& rounds, const SizePlan& plan,
                   const Communicator& communicator, const Device* gpu) {
  const Options& o = job.options;
  RunRecord run;
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
  run.cpu_time = o.cpu_time;
  run.timestamps = o.timestamps;
  run.group_rows = o.group_rows;
  run.seed = o.seed;
  run.cpus_allowed = allowed_cpus();
  run.graph_launches = o.graph_launches;
  run.per_iteration = o.per_iteration;
  run.per_iteration_skip = o.per_iteration_skip;
  run.notes = job.notes;
  if (gpu != nullptr) run.notes.push_back(gpu->description());
  run.mode = mode_of(job.collective, o);
  if (!run.mode.empty()) run.notes.push_back("mode: " + run.mode);
  for (std::string& line : spec_notes(job.collective, o.spec)) run.notes.push_back(std::move(line));
  const std::string settings = spec_label(job.collective, o.spec);
  if (!settings.empty()) run.mode += (run.mode.empty() ? "" : ", ") + settings;
  for (std::string& line : pair_lines(o, rounds)) run.notes.push_back(std::move(line));
  run.pair_rows = rounds.size() > 1 || (!rounds.empty() && rounds.front().size() > 1);
  if (ranks.front().place() != ranks.back().place()) run.notes.push_back(ranks_per_host(ranks));
  if (o.grouping.splits())
    run.notes.push_back(fmt::format("groups by '{}': {}, all at once; {}", o.grouping.text,
                                    groups.describe(),
                                    o.group_rows ? "a row for each" : "rows show the slowest"));
  std::istringstream description(communicator.description());
  for (std::string line; std::getline(description, line);) run.notes.push_back(line);
  if (!plan.sizes.empty()) {
    const std::size_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
    for (std::string& line : alltoallv_summary(job.collective, o, groups.ranks_of(0), largest))
      run.notes.push_back(std::move(line));
  }
  run.reduced_max = plan.reduced_max;
  run.rank_lines = rank_lines(ranks, groups);
  run.start_time = local_time();
  return run;
}

}  // namespace

Communicator& OpenCommunicators::add(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  return *open_.emplace_back(std::move(communicator));
}
Device& OpenCommunicators::keep(std::unique_ptr<Device> device) {
  const std::lock_guard lock(mutex_);
  return *devices_.emplace_back(std::move(device));
}
void OpenCommunicators::close(Communicator& communicator) {
  std::unique_ptr<Communicator> closing;  // outside the lock: it may wait for its peers
  const std::lock_guard lock(mutex_);
  for (auto& c : open_) {
    if (c.get() == &communicator) closing = std::move(c);
  }
  std::erase(open_, nullptr);
}
void OpenCommunicators::abort_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& c : open_) c->abort();
}
void OpenCommunicators::abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& c : open_) static_cast<void>(c.release());
  for (auto& d : devices_) static_cast<void>(d.release());
}

void run_rank(RankJob& job, Bootstrap& bootstrap, Progress& progress, Pulse& pulse,
              bool first_of_process) {
  const Options& o = job.options;
  std::vector<Identity> ranks = meet(bootstrap, o.init_timeout_s);
  std::vector<Term> settings = shared_settings(job.collective, o);
  settings.push_back({"--backend", std::string(job.backend.name())});
  if (const auto why = disagreement(bootstrap, o.init_timeout_s, job.collective.name, settings))
    throw UsageError(*why);
  const Groups groups(o.grouping, places(ranks));
  check_groups(job.collective, o, groups);
  std::vector<PairRound> rounds;
  if (job.collective.paired) rounds = pair_rounds(o.pairing, o.concurrent, bootstrap.ranks());
  const Groups running = rounds.empty() ? groups : as_groups(rounds.front(), bootstrap.ranks());
  Device* const gpu = open_gpu(job, bootstrap, ranks);
  const bool on_gpu = job.placement.buffers == Memory::cuda;
  Device& device = on_gpu ? *gpu : job.open.keep(host_devices().open(0));
  MemoryUse memory{device.available(), 0, 0};
  progress.phase("connecting the library under test");
  Communicator& world = connect(job, bootstrap, gpu, pulse);
  const auto group = split(bootstrap, groups, o.init_timeout_s);
  Communicator& communicator =
      group ? connect_group(job, world, *group, groups, bootstrap.rank(), gpu, pulse) : world;
  memory.connected = device.available();
  learn_free_memory(job, bootstrap, gpu, ranks);
  const SizePlan plan = plan_sizes(job, ranks, running);
  std::set<Kind> skipped;
  std::vector<std::string> left_out;
  if (gpu != nullptr) skipped = missing_kinds(job, bootstrap, communicator, left_out);

  const bool reports = first_of_process && bootstrap.rank() == 0;
  if (reports) {
    RunRecord record = describe(job, ranks, groups, rounds, plan, communicator, gpu);
    record.notes.insert(record.notes.end(), left_out.begin(), left_out.end());
    job.recorder.begin(record);
  }
  const RunContext context{job.collective,    o,
                           running,           rounds,
                           plan.sizes,        job.patterns,
                           progress,          on_one_machine(ranks),
                           std::move(skipped)};
  const Devices& devices = on_gpu ? *job.placement.gpus : host_devices();
  {
    RankRun run(context,
                {bootstrap, group ? *group : bootstrap, world, communicator, device, devices,
                 ranks[static_cast<std::size_t>(bootstrap.rank())].host},
                pulse);
    memory.allocated = device.available();
    run.sweep(
        [&](const Row& row, std::size_t requested) {
          if (first_of_process) job.recorder.row(row, requested);
        },
        [&](const std::string& line) {
          if (first_of_process) job.recorder.note(line);
          if (reports) job.log(line);
        });
    if (o.memory_report) {
      const std::string line = memory_line(bootstrap, memory, device.available(), o.init_timeout_s);
      if (first_of_process) job.recorder.memory(line);
    }
  }
  bootstrap.exchange(
      "", o.init_timeout_s);  // nobody tears its connections down while others still use them
  if (group) job.open.close(communicator);
  job.open.close(world);
}

}  // namespace ccl
