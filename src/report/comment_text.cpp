#include "src/report/comment_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t columns = 100;
constexpr std::array<std::string_view, 4> outcome_words = {
    "Test failure", "Out of bounds values", "Avg bus bandwidth", "Collective test concluded"};

bool same_letter(unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }

}  // namespace

std::string harmless(std::string_view text) {
  std::string line = single_line(text);
  for (const std::string_view words : outcome_words) {
    auto from = line.begin();
    while (true) {
      from = std::search(from, line.end(), words.begin(), words.end(), same_letter);
      if (from == line.end()) break;
      const auto to = from + static_cast<std::ptrdiff_t>(words.size());
      std::replace(from, to, ' ', '_');
      from = to;
    }
  }
  return line;
}

std::string comment(std::string_view text) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string line = harmless(text.substr(0, end));
    lines += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    if (end == std::string_view::npos || end + 1 == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string comments(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += comment(text);
  return lines;
}

std::string answer(std::string_view label, std::string_view text) {
  std::string start = fmt::format("# {:<8} : ", label);
  const std::string continued = fmt::format("#{:{}}", "", start.size() - 1);
  std::string rest = harmless(text);
  std::string lines;
  while (start.size() + rest.size() > columns) {
    const std::size_t room = columns - start.size();
    std::size_t end = rest.rfind(' ', room);
    if (end == std::string::npos || end == 0) end = rest.find(' ', room);  // a long word
    if (end == std::string::npos) break;
    lines += start + rest.substr(0, end) + '\n';
    rest.erase(0, end + 1);
    start = continued;
  }
  return lines + start + rest + '\n';
}

}  // namespace ccl_tests
