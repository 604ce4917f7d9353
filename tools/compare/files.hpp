// Compares two results files.
#pragma once

#include <string>

#include "tools/compare/report.hpp"

namespace ccl_tests::compare {

// Each run in a file is one invocation; the first run of base is compared with the first one of
// head, and so on. One run a side gives hints only. Throws UsageError if a file cannot be read or
// its runs cannot be compared.
Report compare_files(const std::string& base, const std::string& head, double threshold);

}  // namespace ccl_tests::compare
