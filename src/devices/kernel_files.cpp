#include "src/devices/kernel_files.hpp"

#include <fstream>

namespace ccl_tests {

std::optional<std::string> value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

std::vector<Cgroup> cgroups(const std::string& root, std::string_view controller) {
  std::vector<Cgroup> result;
  std::ifstream file(root + "/proc/self/cgroup");  // lines of number:controllers:path
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(',' + std::string(controller) + ',') == std::string::npos)
      continue;
    const std::string top =
        root + "/sys/fs/cgroup" + (unified ? std::string() : '/' + std::string(controller));
    std::string folder = line.substr(second + 1);
    while (true) {
      result.push_back({top + folder + '/', unified});
      if (folder.empty() || folder == "/") break;
      folder.resize(folder.rfind('/'));
    }
  }
  return result;
}

}  // namespace ccl_tests
