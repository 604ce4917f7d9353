// A rank's communicator over Gloo.
#pragma once

#include <memory>

#include "src/backends/gloo/connect.hpp"
#include "src/core/backend.hpp"

namespace ccl_tests::gloo_module {

// Throws UsageError for an unknown --gloo-algorithm. Others may use the connection's context in
// turn with it.
std::unique_ptr<Communicator> make_communicator(Connection connection,
                                                const BackendOptions& options);

}  // namespace ccl_tests::gloo_module
