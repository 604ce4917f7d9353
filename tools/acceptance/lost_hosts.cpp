#include "tools/acceptance/lost_hosts.hpp"

#include <fmt/format.h>

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

// Returns what in a line names processes that are gone or silent.
std::vector<std::string_view> names_said_in(std::string_view error) {
  std::vector<std::string_view> names;
  for (const std::string_view words : {" is gone", " are gone"})
    if (const std::size_t gone = error.find(words); gone != std::string_view::npos)
      names.push_back(error.substr(0, gone));
  const std::size_t silent = error.find("no sign of life from");
  if (silent == std::string_view::npos) return names;
  const std::string_view rest = error.substr(silent);
  names.push_back(rest.substr(0, std::min(rest.find(';'), rest.size())));
  return names;
}

}  // namespace

std::vector<std::string> lost_hosts(const std::vector<std::string>& errors) {
  std::vector<std::string> hosts;
  for (const std::string& error : errors)
    for (const std::string_view names : names_said_in(error)) add_names(names, hosts);
  return hosts;
}

std::string late_ranks(const std::vector<std::string>& errors) {
  constexpr std::string_view words = "last heard of: ";
  for (const std::string& error : errors) {
    const std::size_t begin = error.find(words);
    if (begin == std::string::npos) continue;
    std::string late;  // the groups of where_ranks_are(), backwards
    std::string_view rest = std::string_view(error).substr(begin + words.size());
    while (!rest.empty()) {
      const std::size_t semicolon = rest.rfind("; ");
      const std::size_t group = semicolon == std::string_view::npos ? 0 : semicolon + 2;
      late += fmt::format("{}{}", late.empty() ? "" : "; ", rest.substr(group));
      rest = rest.substr(0, group == 0 ? 0 : semicolon);
    }
    return late;
  }
  return {};
}

bool lost_rank_0(const std::vector<std::string>& errors) {
  const auto has = [](std::string_view names, std::string_view what) {
    return names.find(what) != std::string_view::npos;
  };
  return std::any_of(errors.begin(), errors.end(), [&](const std::string& error) {
    const std::vector<std::string_view> all = names_said_in(error);
    return std::any_of(all.begin(), all.end(), [&](std::string_view names) {
      return has(names, "rank 0 on ") || has(names, "ranks 0-");
    });
  });
}

}  // namespace ccl_tests::acceptance
