// A library under test as the harness sees it, and the one symbol that a module exports.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/communicator.hpp"
#include "src/core/control_channel.hpp"

namespace ccl_tests {

// What the user chose for the backend.
struct BackendOptions {
  std::string interface;  // --interface; empty: the library chooses
  std::string transport;  // --transport; empty: the library's default
  std::string
      gloo_algorithm;  // --gloo-algorithm ring|bcube|halving_doubling (only where all ranks change
                       // buffers together, which primitives do not); empty: the library's default
  double init_timeout_s = 120;
  Device* device = nullptr;     // this rank's; null: the host
  int local_register = 0;       // -R: 0 no, 1 as buffers, 2 as symmetric windows
  int cta_policy = -1;          // -x; -1: the library's default
  bool null_stream = false;     // -y
  bool share_devices = false;   // --share-gpus: several ranks on one GPU
  bool show_algorithm = false;  // --show-algorithm
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string version() const = 0;  // of the library under test
  virtual std::string library() const = 0;  // file it was loaded from; empty when built in
  // File descriptors that one rank needs; the harness raises RLIMIT_NOFILE or says how many are
  // missing.
  virtual std::size_t descriptors_per_rank(int ranks) const = 0;
  // Memory that the library may allocate for one operation, as a multiple of the larger buffer, per
  // rank.
  virtual double scratch_factor(int /*ranks*/) const { return 1; }
  // Threads of a rank that work at the same time during an operation; 0: time is not the machine's.
  virtual int threads_per_rank() const { return 1; }
  // The memory that its operations take, the preferred one first.
  virtual std::vector<Memory> memories() const { return {Memory::host}; }
  // Called first, on the main thread. A backend that opens its library itself takes this file of
  // it; empty: the usual one. True: done. False: the backend is linked to its library.
  virtual bool open_library(const std::string& /*file*/) const { return false; }
  // Called on the main thread when the options are known and before connect(). Throws Unsupported
  // where the library found has not what they ask for.
  virtual void check(const BackendOptions& /*options*/) const {}
  // True when a process can be one rank only (MPI).
  virtual bool one_rank_per_process() const { return false; }
  // Called on the program's main thread before the first use, once or more; and after a run that
  // has not failed, when all communicators are gone.
  virtual void start() const {}
  virtual void finish() const {}
  // Process 0's bytes on every one of the `processes` that the library's own launcher (mpirun)
  // started. Collective over them, on the main thread. Throws Error when the library knows of
  // another number of processes.
  virtual std::string from_process_0(const std::string& /*bytes*/, int /*processes*/) const {
    throw Unsupported(std::string(name()) + " has no launcher of its own");
  }
  // Collective over channel's ranks. Throws Error, Timeout, Unsupported (an unknown transport,
  // ...).
  virtual std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                                const BackendOptions& options) const = 0;
};

// A module is a shared object that exports these two with C linkage: ccl_module_abi() ==
// module_abi, and ccl_module_backend(), whose result lives as long as the module stays open.
inline constexpr int module_abi = 6;
using ModuleAbi = int (*)();
using ModuleBackend = const Backend* (*)();

}  // namespace ccl_tests
