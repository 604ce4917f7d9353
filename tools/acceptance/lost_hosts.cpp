#include "tools/acceptance/lost_hosts.hpp"

#include <algorithm>
#include <string_view>

namespace ccl_tests::acceptance {
namespace {

// Members are named "rank 5 on node7 (pid 4711)" (Hello::name).
void add_names(std::string_view text, std::vector<std::string>& hosts) {
  constexpr std::string_view before = " on ", behind = " (pid ";
  for (std::size_t end = 0; (end = text.find(behind, end)) != std::string_view::npos; ++end) {
    const std::size_t begin = text.rfind(before, end);
    if (begin == std::string_view::npos) continue;
    const std::string_view name = text.substr(begin + before.size(), end - begin - before.size());
    const bool one_word = !name.empty() && name.find(' ') == std::string_view::npos;
    if (one_word && std::find(hosts.begin(), hosts.end(), name) == hosts.end())
      hosts.emplace_back(name);
  }
}

}  // namespace

std::vector<std::string> lost_hosts(const std::vector<std::string>& errors) {
  std::vector<std::string> hosts;
  for (const std::string_view error : errors) {
    if (const std::size_t gone = error.find(" is gone"); gone != std::string_view::npos)
      add_names(error.substr(0, gone), hosts);
    for (const std::string_view words : {"no sign of life from", "does not come to an exchange:",
                                         "did not come to an exchange in time:"}) {
      const std::size_t at = error.find(words);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = error.substr(at);
      add_names(rest.substr(0, std::min(rest.find(';'), rest.size())), hosts);
    }
  }
  return hosts;
}

}  // namespace ccl_tests::acceptance
