// Makes a Gloo context whose ranks meet over our channel.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>
#include <vector>

#include "src/backends/gloo/open_sockets.hpp"
#include "src/core/backend.hpp"

namespace ccl_tests::gloo_module {

struct Connection {
  std::shared_ptr<gloo::Context> context;
  std::vector<std::string> description;  // transport and address; how event threads are scheduled
  OpenSockets sockets;
};

// Collective. Throws UsageError for an unknown interface or transport, Error and Timeout from Gloo.
Connection connect(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
