#include "src/core/quote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace ccl_tests {
namespace {

std::string escaped(char c) {
  if (c == '\t') return "\\t";
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7f) return fmt::format("\\x{:02x}", byte);
  return {c};
}

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Names that other tools have for the same. They are not read, but suggest ours.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"float16", "half"},        {"f16", "half"},         {"float32", "float"},
    {"f32", "float"},           {"float64", "double"},   {"f64", "double"},
    {"int", "int32"},           {"char", "int8"},        {"uint", "uint32"},
    {"fp8_e4m3", "f8e4m3"},     {"add", "sum"},          {"mean", "avg"},
    {"fp8_e5m2", "f8e5m2"},     {"average", "avg"},      {"product", "prod"},
    {"openmpi", "mpi-openmpi"}, {"ompi", "mpi-openmpi"}, {"mpich", "mpi-mpich"},
};

// Levenshtein distance; two neighbours that changed places are one edit, too.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string quote(std::string_view text, std::size_t most) {
  std::string result = "'";
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && continues_a_character(text[end])) --end;  // UTF-8
  for (const char c : text.substr(0, end)) result += escaped(c);
  if (end < text.size()) return result + fmt::format("...' ({} characters)", text.size());
  return result + "'";
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + '\'';
}

std::optional<std::string> suggestion(std::string_view given,
                                      const std::vector<std::string>& choices) {
  std::string text(given);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [alias, name] : aliases)
    if (text == alias && std::find(choices.begin(), choices.end(), name) != choices.end())
      return std::string(name);
  std::optional<std::string> best;
  std::size_t least = 3;
  for (const std::string& choice : choices) {
    const std::size_t distance = edits(text, choice);
    if (distance < least && distance <= std::min(text.size(), choice.size()) / 2) {
      least = distance;
      best = choice;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& choices) {
  const auto meant = suggestion(given, choices);
  return fmt::format("unknown {} {}{} accepted: {}", what, quote(given),
                     meant ? fmt::format(", did you mean '{}'?", *meant) : ";",
                     fmt::join(choices, ", "));
}

}  // namespace ccl_tests
