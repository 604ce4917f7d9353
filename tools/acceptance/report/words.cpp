#include "tools/acceptance/report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/record/quantity_text.hpp"

namespace ccl_tests::acceptance {
namespace {

bool has_suffix(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

const Number* find(const std::vector<Number>& numbers, const std::string& name) {
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const Number& number) { return number.name == name; });
  return found == numbers.end() ? nullptr : &*found;
}

}  // namespace

std::string rate_text(double bytes_per_second) {
  if (std::isnan(bytes_per_second)) return "not measured";
  constexpr std::array<const char*, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  double value = bytes_per_second;
  while (std::isfinite(value) && std::fabs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  if (std::fabs(value) >= 999.5) return fmt::format("{:.0f} {}", value, units.at(unit));
  return fmt::format("{:.3g} {}", value, units.at(unit));
}

std::string number_text(const Number& number) {
  const double value = number.value;
  if (std::isnan(value)) return "not measured";
  if (number.unit == "B/s") return rate_text(value);
  if (number.unit == "s" && value >= 0) return seconds_text(value);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (number.unit == "B" && value >= 0 && value < exact && value == std::floor(value))
    return binary_size_text(static_cast<std::size_t>(value));
  const bool whole = std::fabs(value) < exact && value == std::floor(value);
  const std::string text = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return number.unit.empty() ? text : text + " " + number.unit;
}

std::string duration_text(double begin_s, double end_s) {
  return begin_s > 0 ? duration_text(end_s - begin_s) : "unknown";
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string stage_duration(const Stage& stage) {
  if (stage.verdict == Verdict::skipped && !(stage.begin_s > 0)) return "-";
  return duration_text(stage.begin_s, stage.end_s);
}

std::vector<Quantity> quantities(const std::vector<Number>& numbers) {
  std::vector<Quantity> lines;
  for (const Number& number : numbers) {
    if (has_suffix(number.name, "_low") || has_suffix(number.name, "_high")) {
      const std::string stem = number.name.substr(0, number.name.rfind('_'));
      if (find(numbers, stem) != nullptr) continue;  // shown with the number itself
      const Number* const low = find(numbers, stem + "_low");
      const Number* const high = find(numbers, stem + "_high");
      if (low != nullptr && high != nullptr) {
        if (&number == low)
          lines.push_back({spaced(stem), number_text(*low) + " to " + number_text(*high)});
        continue;
      }
    }
    std::string text = number_text(number);
    const Number* const low = find(numbers, number.name + "_low");
    const Number* const high = find(numbers, number.name + "_high");
    if (low != nullptr && high != nullptr && !std::isnan(number.value))
      text += fmt::format(" [{}, {}]", number_text(*low), number_text(*high));
    lines.push_back({spaced(number.name), text});
  }
  return lines;
}

}  // namespace ccl_tests::acceptance
