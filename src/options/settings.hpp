// What all ranks of a job must have been told alike.
#pragma once

#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/collective.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// By the names of the flags. Not among them: what concerns one process alone (-t, --interface, -J,
// ...).
std::vector<NamedValue> shared_settings(const Collective& collective, const Options& options);

}  // namespace ccl_tests
