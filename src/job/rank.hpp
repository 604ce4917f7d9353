// One rank of a job, as a program sees it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/core/backend.hpp"
#include "src/core/control_channel.hpp"
#include "src/core/error.hpp"
#include "src/inject/injecting_communicator.hpp"
#include "src/job/activity.hpp"
#include "src/job/job_setup.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// The communicators and devices of a process's ranks. Keeps the communicator of a rank that failed
// open until the job has said why: closing it would fail the other ranks, with a message that hides
// the cause. Thread-safe.
class OpenCommunicators {
 public:
  Communicator& add(std::unique_ptr<Communicator> communicator);
  // Keeps a device until all communicators are gone.
  Device& keep(std::unique_ptr<Device> device);
  void close(Communicator& communicator);
  // Makes operations that are under way fail.
  void abort_all();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Communicator>> open_;
};

// The things that the ranks of a process share.
struct Process {
  const JobSetup& options;
  const Launch& launch;
  const Backend& backend;
  const Staging& staging;
  std::function<void(const std::string&)> log;  // prints a line on stderr
  double started_s = 0;                         // CLOCK_MONOTONIC at the program's first line
};

// Returns the program's arguments as they were typed. Processes of --np are started without it: it comes first.
std::vector<std::string> typed_arguments(const Process& process);

// Used by the rank's thread.
class Rank {
 public:
  Rank(const Process& process, ControlChannel& world, Activity& activity, OpenCommunicators& open)
      : process_(process), world_(world), activity_(activity), open_(open) {
    if (process.options.inject) injector_.emplace(world.rank(), process.options.inject);
  }

  // A second end of a rank that has started, for another thread of the rank's: with a channel over
  // all ranks and an activity of its own, and calls of its own that faults are done to. All must
  // outlive it.
  Rank(const Rank& started, ControlChannel& world, Activity& activity);

  // Learns who the other ranks are, and opens this rank's GPU if the job uses GPUs. Collective.
  // Throws UsageError that names the ranks which were told something else; Error, Timeout.
  void start();

  int rank() const { return world_.rank(); }
  int ranks() const { return world_.ranks(); }
  bool is_first() const { return rank() == 0; }  // which reports for all
  const Process& process() const { return process_; }
  ControlChannel& world() { return world_; }
  const RankTable& table() const { return table_; }
  // Returns cpu_shortage() of the job: empty if all ranks have the CPUs for their busy threads.
  const std::string& shortage() const { return shortage_; }
  Activity& activity() { return activity_; }
  Injector* injector() { return injector_ ? &*injector_ : nullptr; }  // null: nothing is spoiled
  // Returns what --inject has done: "inject: 3 operations spoiled: 3 on rank 1". Returns an empty
  // text without it. Collective.
  std::string spoiled_text();
  // Returns the exit code of a rank whose body ended with `code`: with --inject a run that finds
  // nothing wrong shows nothing.
  int code_with_faults(int code) const;
  Device* gpu() const { return gpu_; }   // null: the job uses none
  Device& device() { return *device_; }  // that buffers lie on
  const Devices& devices() const;        // its kind

  // Returns a communicator over group's ranks, which lives until close() or the end of the job; over
  // copies if the library takes another memory than the buffers'. Collective over group's ranks.
  // Throws what the library throws.
  Communicator& connect(ControlChannel& group);
  // Returns a communicator of the ranks that give the same color, ordered by key, made by the library
  // from `world`'s if it can, otherwise connected over `group`. Collective over all ranks.
  Communicator& connect_group(Communicator& world, ControlChannel& group, int color, int key);
  void close(Communicator& communicator) { open_.close(communicator); }

  // Reports that a thread of the rank's failed, before the body of the rank knows: the job ends, and
  // the operations of the rank's communicators fail. where: in front of the message. Thread-safe.
  void fail(const std::string& where, Exit code, const std::string& what) const {
    if (on_failure_) on_failure_(where, exit_code(code), what);
  }
  using OnFailure =
      std::function<void(const std::string& where, int code, const std::string& what)>;
  // Before the body begins: the receiver of what fail() reports.
  void set_on_failure(OnFailure receiver) { on_failure_ = std::move(receiver); }

  // Rank 0's value on every rank. Collective. Throws Error, Timeout.
  int agree(int value) { return std::stoi(world_.broadcast(std::to_string(value), limit_s())); }
  // Returns when all ranks have come. Over the control channel.
  void meet() { world_.all_gather("", limit_s()); }
  double limit_s() const { return process_.options.backend_options.init_timeout_s; }

 private:
  void bind();
  Communicator& keep(std::unique_ptr<Communicator> communicator);

  const Process& process_;
  ControlChannel& world_;
  Activity& activity_;
  OpenCommunicators& open_;
  RankTable table_;
  std::string shortage_;
  Device* gpu_ = nullptr;
  Device* device_ = nullptr;
  std::optional<Injector> injector_;
  OnFailure on_failure_;
};

}  // namespace ccl_tests
