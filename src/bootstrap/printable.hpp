// Text from other processes, made fit for a log.
#pragma once

#include <string>
#include <string_view>

namespace ccl_tests {

// Returns `text` with '?' in the place of each control character: new lines, terminal escapes.
std::string printable(std::string_view text);

}  // namespace ccl_tests
