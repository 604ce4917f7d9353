// Makes the network device that a Gloo context uses.
#pragma once

#include <gloo/transport/device.h>

#include <memory>
#include <vector>

#include "src/backends/gloo/addresses.hpp"
#include "src/core/backend.hpp"

namespace ccl_tests::gloo_module {

struct NetworkDevice {
  std::shared_ptr<gloo::transport::Device> device;
  std::vector<RankAddresses> ranks;  // over TCP: all ranks, each with the address that it uses
  bool batch = false;                // threads are SCHED_BATCH, as was chosen
};

// The threads that are scheduled as SCHED_BATCH: --backend-option event_threads=other|batch|all.
inline constexpr const char* event_threads_key = "event_threads";
enum class BatchThreads { none, event, all };

// Returns the threads that shall be SCHED_BATCH: those that the user names, or all where CPUs are
// short. An event thread polls while another thread holds a connection's lock. Where that one waits
// for the same CPU, the poll goes on until the kernel's next tick (1 to 10 ms) under SCHED_OTHER; a
// thread under SCHED_BATCH gives way at once. With the caller's thread under it, too, times repeat
// within 5 % instead of 30 % from run to run (docs/TROUBLESHOOTING.md, "Calls of 4 ms over Gloo").
// Throws UsageError for another value.
BatchThreads batch_threads(const BackendOptions& options);

// Collective. With BatchThreads::all the calling thread stays SCHED_BATCH. Throws UsageError for an
// unknown interface or transport, Unsupported without an InfiniBand device, and as
// agree_on_addresses.
NetworkDevice make_device(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
