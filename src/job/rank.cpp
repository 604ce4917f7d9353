#include "src/job/rank.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/device.hpp"
#include "src/devices/staged.hpp"
#include "src/job/rank_cpus.hpp"

namespace ccl_tests {

Communicator& OpenCommunicators::add(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  return *open_.emplace_back(std::move(communicator));
}

Device& OpenCommunicators::keep(std::unique_ptr<Device> device) {
  const std::lock_guard lock(mutex_);
  return *devices_.emplace_back(std::move(device));
}

void OpenCommunicators::close(Communicator& communicator) {
  std::unique_ptr<Communicator> closing;  // destroyed outside the lock: it may wait for its peers
  const std::lock_guard lock(mutex_);
  for (auto& c : open_)
    if (c.get() == &communicator) closing = std::move(c);
  std::erase(open_, nullptr);
}

void OpenCommunicators::abort_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& c : open_) c->abort();
}

namespace {

constexpr double later_s = 5;  // than the library's own limit

// Returns what the user asks for, and what the launcher says that every host has.
DeviceRequest request_of(const JobSetup& o) {
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

void require_same_settings(const Process& process, ControlChannel& world) {
  const JobSetup& job = process.options;
  const NamedValue backend{"--backend", std::string(process.backend.name())};
  const auto why = job.disagreement ? job.disagreement(world, backend)
                                    : disagreement(world, job.backend_options.init_timeout_s,
                                                   "settings", {backend});
  if (why) throw UsageError(*why);
}

}  // namespace

std::vector<std::string> typed_arguments(const Process& process) {
  std::vector<std::string> typed;
  if (process.launch.by_np()) typed = {"--np", std::to_string(process.launch.processes)};
  const std::vector<std::string>& rest = process.options.arguments;
  typed.insert(typed.end(), rest.begin(), rest.end());
  return typed;
}

void Rank::start() {
  require_same_settings(process_, world_);
  table_ = gather_rank_table(world_, process_.options.simulated_host, limit_s());
  shortage_ = cpu_shortage(table_.ranks, process_.backend);
  bind();
  if (process_.staging.gpus != nullptr) {
    gpu_ = &open_.keep(take_device(*process_.staging.gpus, world_, request_of(process_.options),
                                   limit_s(), table_));
  }
  const bool on_gpu = process_.staging.buffers == Memory::cuda;
  device_ = on_gpu ? gpu_ : &open_.keep(host_devices().open(0));
}

Rank::Rank(const Rank& started, ControlChannel& world, Activity& activity)
    : process_(started.process_),
      world_(world),
      activity_(activity),
      open_(started.open_),
      table_(started.table_),
      shortage_(started.shortage_),
      gpu_(started.gpu_),
      device_(started.device_),
      injector_(started.injector_),
      on_failure_(started.on_failure_) {}

// Before anything is allocated or started: memory is next to the CPU that touches it first, and the
// library's threads inherit the mask.
void Rank::bind() {
  const std::string& how = process_.options.bind;
  if (how == "none" || process_.options.simulated()) return;
  const std::string mine = bind_rank(table_, rank(), how, process_.backend.info().threads_per_rank);
  const std::vector<std::string> all = world_.all_gather(mine, limit_s());
  for (std::size_t r = 0; r < all.size(); ++r) table_.ranks[r].bound = all[r];
}

std::string Rank::spoiled_text() {
  if (!injector_) return {};
  std::string by_rank;
  std::uint64_t all = 0;
  const auto spoiled = world_.all_gather(std::to_string(injector_->spoiled()), limit_s());
  for (std::size_t r = 0; r < spoiled.size(); ++r) {
    const std::uint64_t number = std::stoull(spoiled[r]);
    all += number;
    if (number > 0)
      by_rank += fmt::format("{} {} on rank {}", by_rank.empty() ? ":" : ",", number, r);
  }
  if (all == 0)
    by_rank = ": the run makes no call that the fault names, or its bytes were so before";
  return fmt::format("inject: {} operation{} spoiled{}", all, all == 1 ? "" : "s", by_rank);
}

int Rank::code_with_faults(int code) const {
  const bool hidden = code == exit_code(Exit::passed) && injector_ && injector_->fault();
  return hidden ? exit_code(Exit::inconclusive) : code;
}

const Devices& Rank::devices() const {
  return process_.staging.buffers == Memory::cuda ? *process_.staging.gpus : host_devices();
}

Communicator& Rank::keep(std::unique_ptr<Communicator> communicator) {
  if (injector_) communicator = with_faults(std::move(communicator), *injector_, *device_);
  communicator->set_time_limit(process_.options.timeout_s);
  return open_.add(std::move(communicator));
}

Communicator& Rank::connect(ControlChannel& group) {
  const Expected expected(activity_, limit_s() + later_s);
  const Staging& staging = process_.staging;
  BackendOptions options = process_.options.library_options();
  const bool host_buffers = staging.buffers == Memory::host;
  options.device = host_buffers == staging.staged ? gpu_ : nullptr;  // the library's memory
  options.cpus_short = !shortage_.empty();
  const auto library = [&] { return process_.backend.connect(group, options); };
  if (!staging.staged) return keep(library());
  Device& host = open_.keep(host_devices().open(0));
  Device& library_side = host_buffers ? *gpu_ : host;
  return keep(stage(library, staging.buffers, library_side, *gpu_));
}

Communicator& Rank::connect_group(Communicator& world, ControlChannel& group, int color, int key) {
  std::unique_ptr<Communicator> part;
  {
    const Expected expected(activity_, limit_s() + later_s);
    part = world.split(color, key);
  }
  return part ? keep(std::move(part)) : connect(group);
}

}  // namespace ccl_tests
