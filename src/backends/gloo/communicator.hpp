// A rank's communicator over Gloo.
#pragma once

#include <memory>

#include "src/core/backend.hpp"

namespace ccl::gloo_module {

// Collective over bootstrap's ranks.
std::unique_ptr<Communicator> make_communicator(Bootstrap& bootstrap,
                                                const BackendOptions& options);

}  // namespace ccl::gloo_module
