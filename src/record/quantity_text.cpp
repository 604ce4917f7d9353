#include "src/record/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ccl_tests {

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string binary_size_text(std::size_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes > 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units.at(unit));
}

std::string digits_text(double number) {
  constexpr int digits = 4, most = 30;
  const bool small = std::isfinite(number) && number != 0 && std::fabs(number) < 1;
  const int zeros = small ? static_cast<int>(-std::floor(std::log10(std::fabs(number)))) - 1 : 0;
  return fmt::format("{:.{}f}", number, std::min(digits + zeros, most));
}

std::string seconds_text(double seconds) {
  if (seconds < 999.5e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 999.5e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

}  // namespace ccl_tests
