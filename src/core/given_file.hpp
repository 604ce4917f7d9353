// Files that a user names, read whole.
#pragma once

#include <cstddef>
#include <string>

namespace ccl_tests {

inline constexpr std::size_t largest_given_file = std::size_t{1} << 30;  // bytes

// Returns the bytes of a file, or what comes through a pipe until its writers close it. Throws Error that says
// why it cannot be read; so of one with more than `most` bytes, as of a device that has no end.
std::string read_given_file(const std::string& path, std::size_t most = largest_given_file);

}  // namespace ccl_tests
