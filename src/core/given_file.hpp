// Files that a user names: regular ones, or pipes until their writers close them. What has no end,
// as a device may, is refused before it fills the memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ccl_tests {

// Returns all of a file. Throws Error with why it cannot, or if it has more than `most` bytes.
std::string read_given_file(const std::string& path, std::size_t most);

// Calls take(line, whether it has its end) for each line, without its end, until take returns
// false. Throws Error with why the file cannot be read, or if a line has more than `most` bytes.
void for_each_given_line(const std::string& path, std::size_t most,
                         const std::function<bool(std::string_view line, bool ended)>& take);

}  // namespace ccl_tests
