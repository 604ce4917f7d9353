// Makes a Gloo context whose ranks meet over our channel, and a communicator over it.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/backends/gloo/open_sockets.hpp"
#include "src/core/backend.hpp"
#include "src/core/capabilities.hpp"

namespace ccl_tests::gloo_module {

struct Connection {
  std::shared_ptr<gloo::Context> context;
  std::vector<std::string> description;  // transport and address; how event threads are scheduled
  OpenSockets sockets;
  std::optional<ChosenInterface> chosen_interface = {};
};

// The threads that are scheduled as SCHED_BATCH: --backend-option event_threads=other|batch|all.
inline constexpr const char* event_threads_key = "event_threads";
enum class BatchThreads { none, event, all };

// Returns the threads that shall be SCHED_BATCH: those that the user names, or all if CPUs are
// short. An event thread polls while another thread holds a connection's lock. If that one waits
// for the same CPU, the poll goes on until the kernel's next tick (1 to 10 ms); a thread under
// SCHED_BATCH gives way at once (docs/TROUBLESHOOTING.md, "Calls of 4 ms over Gloo"). Throws
// UsageError for another value.
BatchThreads batch_threads(const BackendOptions& options);

// Collective. With BatchThreads::all the calling thread becomes SCHED_BATCH. Throws UsageError for
// an unknown interface or transport, Unsupported without an InfiniBand device, Error and Timeout
// from Gloo, and as agree_on_addresses.
Connection connect(ControlChannel& channel, const BackendOptions& options);

// Makes a rank's communicator over Gloo. Throws UsageError for an unknown --gloo-algorithm. Others
// may use the connection's context in turn with it.
std::unique_ptr<Communicator> make_communicator(Connection connection,
                                                const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
