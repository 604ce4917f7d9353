// Texts about the settings that only some programs take.
#pragma once

#include <string>
#include <vector>

#include "src/core/collective.hpp"

namespace ccl_tests {

// Returns lines of the header: the settings that the program takes, and what the lines after a
// composite's rows mean.
std::vector<std::string> spec_notes(const Collective& collective, const CollectiveOptions& options);

// Returns a few words for the files: "skew linear, 8 objects".
std::string spec_label(const Collective& collective, const CollectiveOptions& options);

}  // namespace ccl_tests
