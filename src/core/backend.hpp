// A library under test as the harness sees it, and the symbols that a module exports.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

class Communicator;

// The user's choices for the backend.
struct BackendOptions {
  std::string interface;       // --interface (interfaces.hpp); empty: the library chooses
  std::string transport;       // --transport; empty: the library's default
  std::string gloo_algorithm;  // --gloo-algorithm ring|bcube; empty: the library's default
  std::string mpi_thread;      // --mpi-thread; empty: MPI's module chooses
  double init_timeout_s = 120;
  Device* device = nullptr;                     // this rank's; null: the host
  int local_register = 0;                       // -R: 0 no, 1 as buffers, 2 as symmetric windows
  int cta_policy = -1;                          // -x; -1: the library's default
  bool null_stream = false;                     // -y
  bool share_devices = false;                   // --share-gpus: several ranks on one GPU
  bool show_algorithm = false;                  // --show-algorithm
  int peers = 0;                                // Domain::peers of the program
  int ranks_per_process = 1;                    // each on a thread
  bool cpus_short = false;                      // a host has fewer CPUs than busy threads
  std::map<std::string, std::string> own = {};  // --backend-option KEY=VALUE
  bool several_threads = false;  // a rank calls the library from several threads at once

  // Returns the value that the user gave for a key of the backend's own. Returns nullopt if none.
  std::optional<std::string> get(const std::string& key) const;
};

// A number that may depend on the number of ranks: 2.0, or [](int ranks) { return 2.0 * ranks; }.
template <class T>
class PerRanks {
 public:
  PerRanks(T value) : value_([value](int /*ranks*/) { return value; }) {}
  template <std::invocable<int> F>
  PerRanks(F function) : value_(std::move(function)) {}
  T operator()(int ranks) const { return value_(ranks); }

 private:
  std::function<T(int)> value_;
};

// A backend's words about itself and its library.
struct BackendInfo {
  std::string name;
  std::string version = {};   // of the library under test
  std::string library = {};   // file it was loaded from; empty if built in
  std::string known_as = {};  // versions as other tools print them, which scripts look for
  // File descriptors that one rank needs. The harness raises RLIMIT_NOFILE, or says how many are
  // missing.
  PerRanks<std::size_t> descriptors_per_rank = std::size_t{0};
  // Memory that the library may allocate for one operation, as a multiple of the larger buffer, per
  // rank. What the suite composes takes up to 3.
  PerRanks<double> scratch_factor = 3.0;
  // Bytes that the library takes from the memory of the buffers after these are planned, per rank.
  PerRanks<std::size_t> taken_later = std::size_t{0};
  // Threads of a rank that work at the same time during an operation. 0: time is not the machine's.
  int threads_per_rank = 1;
  // The memory that its operations take, the preferred one first. MPI knows it once started.
  std::vector<Memory> memories = {Memory::host};
  bool one_rank_per_process = false;
  std::vector<std::string> option_keys = {};  // that --backend-option may set
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual BackendInfo info() const = 0;

  // Connects this rank. Collective over channel's ranks. Throws Error, Timeout, Unsupported (an
  // unknown transport, ...).
  virtual std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                                const BackendOptions& options) const = 0;

  // Called on the main thread when the options are known and before connect(). Throws Unsupported
  // if the library that was found lacks what they ask for.
  virtual void check(const BackendOptions& /*options*/) const {}

  // Loads the library under test from `file`; empty: the default file. Returns false if the backend
  // is linked to its library. Called first, on the main thread.
  virtual bool open_library(const std::string& /*file*/) const { return false; }

  // For a library that is started once in a process, and with its processes. Called on the main
  // thread before the first use, once or more; and after a run that succeeded, when all
  // communicators are gone.
  virtual void start(const BackendOptions& /*options*/) const {}
  virtual void finish() const {}
  // Returns process 0's bytes on every one of the `processes` that the library's own launcher
  // (mpirun) started. Collective over them, on the main thread. Throws Error if the library knows
  // of another number of processes, Unsupported if it has no launcher.
  virtual std::string from_process_0(const std::string& bytes, int processes) const;

  std::string name() const { return info().name; }
};

// check(), and that every key of --backend-option is one that the backend takes. Throws UsageError.
void check_options(const Backend& backend, const BackendOptions& options);

// A module is a shared object that exports these two with C linkage: ccl_module_abi() ==
// module_abi, and ccl_module_backend(), whose result lives as long as the module stays open.
inline constexpr int module_abi = 11;
using ModuleAbi = int (*)();
using ModuleBackend = const Backend* (*)();

}  // namespace ccl_tests

// Exports a class that derives from Backend and has a default constructor. Once in a module,
// outside of namespaces.
#define CCL_TESTS_BACKEND(Class)                                              \
  extern "C" __attribute__((visibility("default"))) int ccl_module_abi() {    \
    return ccl_tests::module_abi;                                             \
  }                                                                           \
  extern "C" __attribute__((visibility("default"))) const ccl_tests::Backend* \
  ccl_module_backend() {                                                      \
    static const Class backend;                                               \
    return &backend;                                                          \
  }                                                                           \
  static_assert(true)
