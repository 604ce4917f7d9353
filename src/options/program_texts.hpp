// What a program does, in words.
#pragma once

#include <string_view>

namespace ccl_tests {

// Returns what the collective of this name does, in less than 80 characters; empty: unknown.
std::string_view about(std::string_view name);

}  // namespace ccl_tests
