// What a program's own settings mean, for the header.
#pragma once

#include <string>
#include <vector>

#include "src/core/collective.hpp"

namespace ccl {

// One line for each setting that the program takes, and what a composite's lines behind the rows
// say.
std::vector<std::string> spec_notes(const Collective& collective, const SpecOptions& options);

// The same settings in a few words, for the files: "skew linear, 8 objects".
std::string spec_label(const Collective& collective, const SpecOptions& options);

}  // namespace ccl
