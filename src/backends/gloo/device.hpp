// Which network device a Gloo context uses.
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
};

// Collective. Throws UsageError for an unknown interface or transport, Unsupported without an
// InfiniBand device, and as agree_on_addresses.
NetworkDevice make_device(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
