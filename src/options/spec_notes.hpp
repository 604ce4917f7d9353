// The settings that only some programs take: what their ranks must mean alike, what is said of
// them.
#pragma once

#include <string>
#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/collective.hpp"

namespace ccl_tests {

struct SpecSetting {
  NamedValue term;    // named as the flag or variable
  std::string label;  // a few words for the files, "skew linear"; empty: said elsewhere
  std::string note;   // a line of the header; empty: said elsewhere
};

// Those that the program takes.
std::vector<SpecSetting> spec_settings(const Collective& collective,
                                       const CollectiveOptions& options);

// Their notes, and what a composite's lines behind the rows say.
std::vector<std::string> spec_notes(const Collective& collective, const CollectiveOptions& options);

// Their labels: "skew linear, 8 objects".
std::string spec_label(const Collective& collective, const CollectiveOptions& options);

}  // namespace ccl_tests
