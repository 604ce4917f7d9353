#include "src/run/memory_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ccl_tests {
namespace {

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "KB", "MB"}) {
    if (bytes < 1024) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1024;
  }
  return fmt::format("{:.4g} GB", bytes);
}

}  // namespace

std::string memory_line(ControlChannel& channel, const MemoryUse& use, std::size_t at_end,
                        double limit_s) {
  const auto used = [](std::size_t before, std::size_t after) {
    return before > after ? before - after : 0;
  };
  const nlohmann::json mine{used(use.before, use.connected), used(use.connected, use.allocated),
                            used(use.allocated, at_end)};
  double most = -1;
  std::string line;
  for (const std::string& text : channel.all_gather(mine.dump(), limit_s)) {
    const auto json = nlohmann::json::parse(text);
    const double parts[] = {json.at(0), json.at(1), json.at(2)};
    const double total = parts[0] + parts[1] + parts[2];
    if (total <= most) continue;
    most = total;
    line = fmt::format(
        "GPU memory usage     : Initialization {} | User-Allocated {} | Collective {} | Total {}",
        bytes_text(parts[0]), bytes_text(parts[1]), bytes_text(parts[2]), bytes_text(total));
  }
  return line;
}

}  // namespace ccl_tests
