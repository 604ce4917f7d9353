// What a job is asked for: its ranks, its library, its limits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/backend.hpp"
#include "src/devices/devices.hpp"
#include "src/inject/fault.hpp"

namespace ccl_tests {

struct JobSetup {
  std::string program;                 // "all_reduce_perf": stands in front of lines on stderr
  std::vector<std::string> arguments;  // argv[1..], for --np's processes
  std::vector<NamedValue> shared;      // flags that all ranks must be given alike
  std::string launcher = "auto";       // --launcher
  std::optional<int> threads, ranks_per_thread;  // -t, -g; nullopt: see default_ranks
  int local_processes = 0;                       // --np; 0: not asked for
  std::string backend = "auto";                  // --backend
  std::string library;                           // --library; empty: the usual file
  BackendOptions backend_options = {};
  std::optional<Memory> memory;        // --memory; nullopt: what the library prefers
  std::string host_memory_only;        // why buffers in GPU memory are refused; empty: they are not
  std::optional<int> expect_gpus;      // --expect-gpus
  std::optional<int> first_device;     // NCCL_TESTS_DEVICE: this process's first
  std::vector<std::string> gpu_flags;  // flags that were given and need a library on GPUs
  std::string bind = "none";           // --bind
  double init_timeout_s = 120;         // of each wait during the start
  double timeout_s = 60;               // of one wait later on, beside 1 s per MB; 0: none
  int communicators_per_rank = 1;      // open at the same time
  std::string heartbeat_file;          // --heartbeat; empty: stderr
  bool whole_machine = true;           // without a launcher, -t, -g and --np: ranks for all of it
  std::optional<Fault> inject;         // --inject; ranks have an injector if there is a fault
  std::string simulated_host;          // as the simulator calls this rank's host; empty: a real one
  // Returns a line that names the ranks which were told something else than the others, the same on
  // every rank; nullopt if none was. Collective. backend: the library under test. Empty: only the
  // library is compared.
  std::function<std::optional<std::string>(ControlChannel& channel, const NamedValue& backend)>
      disagreement;

  // What every rank's library is told, before the rank has its device.
  BackendOptions told() const {
    BackendOptions all = backend_options;
    all.init_timeout_s = init_timeout_s;
    all.ranks_per_process = ranks_per_process();
    return all;
  }
  bool simulated() const { return !simulated_host.empty(); }
  int ranks_per_process() const { return threads.value_or(1) * ranks_per_thread.value_or(1); }
};

// Where a job's buffers lie, decided before its ranks start.
struct Staging {
  Memory buffers = Memory::host;
  const Devices* gpus = nullptr;  // null: no GPU is used
  bool staged = false;            // the library takes another memory than the buffers'
};

// Opens the GPUs if the backend or --memory needs them. Throws Unsupported if this build cannot,
// Error if the machine's GPUs cannot be used or are fewer than --expect-gpus.
Staging stage_buffers(const JobSetup& options, const Backend& backend);

}  // namespace ccl_tests
