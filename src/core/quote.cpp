#include "src/core/quote.hpp"

#include <fmt/format.h>

#include <array>

namespace ccl_tests {
namespace {

std::string escaped(char c) {
  constexpr std::array<std::string_view, 3> short_forms = {"\\t", "\\n", "\\r"};
  constexpr std::string_view controls = "\t\n\r";
  if (const auto at = controls.find(c); at != std::string_view::npos)
    return std::string(short_forms[at]);
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7f) return fmt::format("\\x{:02x}", byte);
  return {c};
}

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string quote(std::string_view text, std::size_t most) {
  std::string result = "'";
  std::size_t end = text.size() > most ? most : text.size();
  while (end > 0 && end < text.size() && continues_a_character(text[end])) --end;  // UTF-8
  for (const char c : text.substr(0, end)) result += escaped(c);
  if (end < text.size()) return result + fmt::format("...' ({} characters)", text.size());
  return result + "'";
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + '\'';
}

}  // namespace ccl_tests
