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
    for (const std::string_view words : {" is gone", " are gone"})
      if (const std::size_t gone = error.find(words); gone != std::string_view::npos)
        add_names(error.substr(0, gone), hosts);
    const std::size_t silent = error.find("no sign of life from");
    if (silent == std::string_view::npos) continue;
    const std::string_view rest = error.substr(silent);
    add_names(rest.substr(0, std::min(rest.find(';'), rest.size())), hosts);
  }
  return hosts;
}

}  // namespace ccl_tests::acceptance
