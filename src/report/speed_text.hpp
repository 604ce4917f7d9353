// Words about the machine's state.
#pragma once

#include <optional>
#include <string>

namespace ccl_tests {

// Whether the machine was the same before the first row and after the last one. before, after: seconds of
// core_to_core(). Empty: nothing to say.
std::string speed_text(std::optional<double> before, std::optional<double> after, bool verbose);

}  // namespace ccl_tests
