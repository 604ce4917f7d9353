#include "src/run/rank_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/bootstrap/launch.hpp"
#include "src/devices/staged.hpp"
#include "src/options/settings.hpp"
#include "src/run/memory_limit.hpp"
#include "src/run/memory_report.hpp"
#include "src/run/rank_identity.hpp"
#include "src/run/rank_run.hpp"
#include "src/run/run_header.hpp"

namespace ccl_tests {
namespace {

// Bytes of one rank's buffer that every machine can hold twice for each of its ranks, beside what
// the library takes.
std::size_t memory_per_buffer(const std::vector<RankIdentity>& ranks, bool on_gpu, double scratch) {
  const auto shared = [&](const RankIdentity& r) {
    return on_gpu ? r.device.unique_id : r.machine;
  };
  std::map<std::string, std::size_t> ranks_on;
  for (const RankIdentity& r : ranks) ++ranks_on[shared(r)];
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const RankIdentity& r : ranks)
    limit = std::min(limit, buffer_limit(r.memory, ranks_on[shared(r)], scratch));
  return limit;
}

// What fits for the groups of every size.
SizePlan plan_sizes(const RankJob& job, const std::vector<RankIdentity>& ranks,
                    const RankGroups& groups) {
  const auto all = static_cast<int>(ranks.size());
  const std::size_t limit = memory_per_buffer(ranks, job.staging.buffers == Memory::cuda,
                                              job.backend.scratch_factor(all));
  SizePlan least;
  for (const int n : groups.distinct_sizes()) {
    SizePlan plan = limit_sizes(job.collective, job.options, n, limit);
    if (least.sizes.empty() || plan.sizes.size() < least.sizes.size()) least = std::move(plan);
  }
  return least;
}

// What the user asks for, and what the launcher says that every host has.
DeviceRequest request_of(const Options& o) {
  DeviceRequest request{o.first_device, o.backend_options.share_devices, 0, {}};
  const auto slurm = process_environment()("SLURM_GPUS_ON_NODE");
  if (o.expect_gpus) {
    request.promised = *o.expect_gpus;
    request.promised_by = fmt::format("--expect-gpus {}", *o.expect_gpus);
  } else if (slurm && slurm->find_first_not_of("0123456789") == std::string::npos) {
    request.promised = std::atoi(slurm->c_str());
    request.promised_by = "SLURM_GPUS_ON_NODE=" + *slurm;
  }
  return request;
}

// A GPU's memory is what is free once the library has taken its own. Collective.
void learn_free_memory(const RankJob& job, ControlChannel& channel, Device* gpu,
                       std::vector<RankIdentity>& ranks) {
  if (job.staging.buffers == Memory::host) return;
  const auto all = channel.all_gather(std::to_string(gpu->available()), job.options.init_timeout_s);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].memory = std::stoull(all[r]);
}

// What the library on any rank's GPU has not, which is left out where there is something else to
// do. Collective. Throws Unsupported where nothing is left.
std::set<Kind> missing_kinds(const RankJob& job, ControlChannel& channel,
                             const Communicator& library, std::vector<std::string>& notes) {
  const std::vector<Kind> kinds = kinds_of(job.collective, job.options);
  std::vector<std::string> own;
  for (const auto& [type, op] : kinds) own.push_back(library.unsupported(type, op).value_or(""));
  std::set<Kind> missing;
  const std::string mine = nlohmann::json(own).dump();
  for (const std::string& text : channel.all_gather(mine, job.options.init_timeout_s)) {
    const auto reasons = nlohmann::json::parse(text).get<std::vector<std::string>>();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::string& why = reasons.at(k);
      if (why.empty() || !missing.insert(kinds[k]).second) continue;
      if (std::find(notes.begin(), notes.end(), why) == notes.end()) notes.push_back(why);
    }
  }
  if (missing.size() == kinds.size()) throw Unsupported(notes.at(0));
  for (std::string& note : notes) note = "left out: " + note;
  return missing;
}

// The communicator of this rank's group: made by the library from the world's, where it can. A
// staged one stays so.
Communicator& connect_group(RankJob& job, Communicator& world, ControlChannel& group,
                            const RankGroups& groups, int rank, Device* gpu, Pulse& pulse) {
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
std::unique_ptr<ControlChannel> split(ControlChannel& world, const RankGroups& groups,
                                      double limit_s) {
  if (groups.number() == 1 && std::is_sorted(groups.members(0).begin(), groups.members(0).end()))
    return nullptr;
  const int rank = world.rank();
  return world.split(groups.group_of(rank), groups.rank_in_group(rank), limit_s);
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

void require_same_settings(const RankJob& job, ControlChannel& channel) {
  const Options& o = job.options;
  std::vector<NamedValue> settings = shared_settings(job.collective, o);
  settings.push_back({"--backend", std::string(job.backend.name())});
  if (const auto why = disagreement(channel, o.init_timeout_s, "settings", settings))
    throw UsageError(*why);
}

Communicator& connect(RankJob& job, ControlChannel& channel, Device* gpu, Pulse& pulse) {
  const Options& o = job.options;
  const Watched watched(pulse, o.init_timeout_s + 5);  // later than the library's own limit
  BackendOptions options = o.backend_options;
  const bool host_buffers = job.staging.buffers == Memory::host;
  options.device = host_buffers == job.staging.staged ? gpu : nullptr;  // the library's memory
  std::unique_ptr<Communicator> library = job.backend.connect(channel, options);
  if (job.staging.staged) {
    Device& host = job.open.keep(host_devices().open(0));
    Device& library_side = host_buffers ? *gpu : host;
    library = stage(std::move(library), job.staging.buffers, library_side, *gpu);
  }
  library->set_time_limit(o.timeout_s);
  return job.open.add(std::move(library));
}

Device* open_gpu(RankJob& job, ControlChannel& channel, std::vector<DeviceIdentity>* ranks) {
  if (job.staging.gpus == nullptr) return nullptr;
  TakenDevice taken =
      take_device(*job.staging.gpus, channel, request_of(job.options), job.options.init_timeout_s);
  if (ranks != nullptr) *ranks = std::move(taken.ranks);
  return &job.open.keep(std::move(taken.device));
}

void run_rank(RankJob& job, ControlChannel& channel, Progress& progress, Pulse& pulse,
              bool first_of_process) {
  const Options& o = job.options;
  require_same_settings(job, channel);
  std::vector<RankIdentity> ranks = meet_ranks(channel, o.init_timeout_s);
  const RankGroups groups(o.grouping, places(ranks));
  check_groups(job.collective, o, groups);
  std::vector<PairRound> rounds;
  if (job.collective.paired) rounds = pair_rounds(o.pairing, o.concurrent, channel.ranks());
  const RankGroups running = rounds.empty() ? groups : as_groups(rounds.front(), channel.ranks());
  std::vector<DeviceIdentity> devices_of_ranks(ranks.size());
  Device* const gpu = open_gpu(job, channel, &devices_of_ranks);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].device = devices_of_ranks[r];
  const bool on_gpu = job.staging.buffers == Memory::cuda;
  Device& device = on_gpu ? *gpu : job.open.keep(host_devices().open(0));
  // What is free is looked up for -M alone.
  const auto free_bytes = [&] { return o.memory_report ? device.available() : 0; };
  MemoryUse memory{.before = free_bytes()};
  progress.phase("connecting the library under test");
  Communicator& world = connect(job, channel, gpu, pulse);
  const auto group = split(channel, groups, o.init_timeout_s);
  Communicator& communicator =
      group ? connect_group(job, world, *group, groups, channel.rank(), gpu, pulse) : world;
  memory.connected = free_bytes();
  learn_free_memory(job, channel, gpu, ranks);
  const SizePlan plan = plan_sizes(job, ranks, running);
  std::set<Kind> skipped;
  std::vector<std::string> left_out;
  if (gpu != nullptr) skipped = missing_kinds(job, channel, communicator, left_out);

  const bool reports = first_of_process && channel.rank() == 0;
  if (reports)
    job.recorder.begin(describe(job, ranks, groups, rounds, plan, communicator, gpu, left_out));
  const RunContext context{job.collective,    o,
                           running,           rounds,
                           plan.sizes,        job.patterns,
                           progress,          on_one_machine(ranks),
                           std::move(skipped)};
  const Devices& devices = on_gpu ? *job.staging.gpus : host_devices();
  {
    RankRun run(context,
                {channel, group ? *group : channel, world, communicator, device, devices,
                 ranks[static_cast<std::size_t>(channel.rank())].host},
                pulse);
    memory.allocated = free_bytes();
    run.sweep(
        [&](const Row& row, std::size_t requested) {
          if (first_of_process) job.recorder.row(row, requested);
        },
        [&](const std::string& line) {
          if (reports) job.log(line);
        });
    if (o.memory_report) {
      const std::string line = memory_line(channel, memory, device.available(), o.init_timeout_s);
      if (first_of_process) job.recorder.memory(line);
    }
  }
  channel.all_gather(
      "", o.init_timeout_s);  // nobody tears its connections down while others still use them
  if (group) job.open.close(communicator);
  job.open.close(world);
}

}  // namespace ccl_tests
