#include "tools/compare/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

#include "src/core/quote.hpp"

namespace ccl_tests::compare {
namespace {

constexpr std::array<std::string_view, 6> long_names = {"--minbytes",  "--maxbytes", "--stepfactor",
                                                        "--stepbytes", "--sizes",    "--tensors"};

bool is_size_flag(const std::string& word) {
  const std::string_view given = std::string_view(word).substr(0, word.find('='));
  if (given.size() > 2 && given.starts_with("--"))  // programs take beginnings of names, too
    return std::any_of(long_names.begin(), long_names.end(),
                       [&](std::string_view name) { return name.starts_with(given); });
  constexpr std::string_view letters = "befi";  // "-b" or "-b8"
  return word.size() >= 2 && word[0] == '-' && letters.find(word[1]) != std::string_view::npos &&
         (word.size() == 2 || std::isdigit(static_cast<unsigned char>(word[2])) != 0);
}

}  // namespace

bool chooses_sizes(const std::string& command) {
  std::istringstream words(command);
  for (std::string word; words >> word;)
    if (is_size_flag(word)) return true;
  return false;
}

std::string with_flags(const std::string& command, const std::string& file,
                       const std::set<std::size_t>& sizes) {
  std::string text = fmt::format("{} -J {}", command, shell_quoted(file));
  if (!sizes.empty()) text += fmt::format(" --sizes {}", fmt::join(sizes, ","));
  return text;
}

}  // namespace ccl_tests::compare
