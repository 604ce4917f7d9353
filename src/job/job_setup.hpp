// The settings of a job: its ranks, its library, its limits.
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

// The devices that are used, and the memory that buffers lie in.
struct GpuOptions {
  std::optional<Memory> memory;  // nullopt: what the library prefers
  bool memory_report = false;
  std::optional<int> expect_gpus;
  std::optional<int> first_device;  // this process's first
};

// The ranks that a job has and the library that they test.
struct JobOptions {
  std::optional<int> threads, ranks_per_thread;  // nullopt: not asked for
  int local_processes = 0;                       // to start; 0: none
  std::string launcher = "auto";
  std::string backend = "auto";
  std::string library;         // file of the library under test; empty: the installed one
  std::string bind = "short";  // ranks to CPUs: bind_rank(), or "none"
  double timeout_s = 60;       // of one wait, beside what its bytes take; 0: none
  bool parallel_init =
      false;  // kept for nccl-tests' header line: threads always initialise at once
  std::string heartbeat_file;   // empty: stderr
  std::optional<Fault> inject;  // what is done to results on purpose; ranks then have an injector

  int ranks_per_process() const { return threads.value_or(1) * ranks_per_thread.value_or(1); }
};

// A job as flags say it, and what its program adds.
struct JobSetup : JobOptions, GpuOptions {
  std::string program;                 // "all_reduce_perf": stands in front of lines on stderr
  std::vector<std::string> arguments;  // argv[1..], for --np's processes
  std::vector<NamedValue> shared;      // flags that all ranks must be given alike
  BackendOptions backend_options = {};
  std::string host_memory_only;        // why buffers in GPU memory are refused; empty: they are not
  std::vector<std::string> gpu_flags;  // flags that were given and need a library on GPUs
  int communicators_per_rank = 1;      // open at the same time
  bool whole_machine = true;           // without a launcher, -t, -g and --np: ranks for all of it
  std::string simulated_host;          // as the simulator calls this rank's host; empty: a real one
  // Returns a line that names the ranks which were told something else than the others, the same on
  // every rank; nullopt if none was. Collective. backend: the library under test. Empty: only the
  // library is compared.
  std::function<std::optional<std::string>(ControlChannel& channel, const NamedValue& backend)>
      disagreement;

  // Returns what every rank's library is told, before the rank has its device.
  BackendOptions library_options() const {
    BackendOptions all = backend_options;
    all.ranks_per_process = ranks_per_process();
    return all;
  }
  bool simulated() const { return !simulated_host.empty(); }
};

// Where a job's buffers lie, decided before its ranks start.
struct Staging {
  Memory buffers = Memory::host;
  const Devices* gpus = nullptr;  // null: no GPU is used
  bool staged = false;            // the library takes another memory than the buffers'
};

}  // namespace ccl_tests
