#include "src/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include "src/options/program_texts.hpp"

namespace ccl_tests {
namespace {

constexpr std::array<std::string_view, 4> outcome_words = {
    "Test failure", "Out of bounds values", "Avg bus bandwidth", "Collective test concluded"};

bool same_letter(unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }

}  // namespace

std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  const std::string quoted =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

std::string single_line(std::string_view text) {
  std::string line = valid_utf8(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::string_view dots = "...";
  if (most <= dots.size()) return std::string(dots.substr(0, most));
  std::size_t end = most - dots.size();
  const auto inside_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (end > 0 && inside_character(end)) --end;
  if (text[end] != ' ') {
    const std::size_t space = text.substr(0, end).rfind(' ');
    if (space != std::string_view::npos && space >= most / 2) end = space;
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return std::string(text.substr(0, end)) + std::string(dots);
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : single_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  // The two characters of UTF-8 that XML does not allow, U+FFFE and U+FFFF, become U+FFFD.
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = 0; (at = out.find(forbidden, at)) != std::string::npos;)
      out.replace(at, forbidden.size(), "\xef\xbf\xbd");
  return out;
}

std::string xml_lines(std::string_view text) {
  std::string lines;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines += xml_text(text.substr(0, end)) + "\n";
  return lines + xml_text(text);
}

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

std::string answer(std::string_view label, std::string_view text) {
  if (text.empty()) return {};
  const std::string start = fmt::format("# {:<8} : ", label);
  return wrapped(start, harmless(text), start.size(), fmt::format("#{:{}}", "", start.size() - 1));
}

}  // namespace ccl_tests
