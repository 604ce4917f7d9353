// Whether a host has enough TCP ports for Gloo's ranks.
#pragma once

#include "src/core/control_channel.hpp"

namespace ccl_tests::gloo_module {

// Gloo listens at a port of its own for each rank and peer. Throws Unsupported where this host has fewer ports
// for that than its ranks need; Error, Timeout. Collective.
void require_ports(ControlChannel& channel, double limit_s);

}  // namespace ccl_tests::gloo_module
