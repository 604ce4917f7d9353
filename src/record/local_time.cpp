#include "src/record/local_time.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

namespace ccl_tests {

std::string local_time() { return local_time(std::chrono::system_clock::now()); }

std::string local_time(std::chrono::system_clock::time_point at) {
  // Downwards, also before 1970.
  const auto whole = std::chrono::floor<std::chrono::seconds>(at);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(at - whole).count();
  std::tm local{};
  localtime_r(&seconds, &local);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &local);
  const long minutes = local.tm_gmtoff / 60;
  return fmt::format("{}.{:03}{}{:02}:{:02}", date, milliseconds, minutes < 0 ? '-' : '+',
                     std::labs(minutes) / 60, std::labs(minutes) % 60);
}

std::string seconds_form(std::string_view iso) {
  constexpr std::size_t to_seconds = std::string_view("2026-11-20T22:33:44").size();
  constexpr std::size_t separator = std::string_view("2026-11-20").size();
  std::string text(iso.substr(0, to_seconds));
  if (text.size() > separator && text[separator] == 'T') text[separator] = ' ';
  return text;
}

}  // namespace ccl_tests
