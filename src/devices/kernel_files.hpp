// What the kernel says in /proc and /sys. `root`: where these are, for tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// The value behind "key:" or "key " in a file of such lines.
std::optional<std::string> value_of(const std::string& path, const std::string& key);

struct Cgroup {
  std::string folder;  // with '/' at its end
  bool unified;        // version 2; version 1 has other files
};
// The cgroup of this process that limits what `controller` ("memory", "cpu") does, and those above
// it.
std::vector<Cgroup> cgroups(const std::string& root, std::string_view controller);

}  // namespace ccl_tests
