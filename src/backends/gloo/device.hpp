// Which network device a Gloo context uses.
#pragma once

#include <gloo/transport/device.h>

#include <memory>

#include "src/core/backend.hpp"

namespace ccl_tests::gloo_module {

// Collective. --interface, or else: loopback when all ranks are on one host; the address of the
// host's name where other hosts can reach it; the first interface that is up. Throws UsageError for
// an unknown interface or transport, Unsupported without an InfiniBand device.
std::shared_ptr<gloo::transport::Device> make_device(ControlChannel& channel,
                                                     const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
