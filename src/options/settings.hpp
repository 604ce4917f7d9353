// What all ranks of a job must have been told alike.
#pragma once

#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/collective.hpp"
#include "src/options/options.hpp"

namespace ccl {

// By the names of the flags. Not among them: what concerns one process alone (-t, --interface, -J,
// ...).
std::vector<Term> shared_settings(const Collective& collective, const Options& options);

}  // namespace ccl
