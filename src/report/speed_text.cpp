#include "src/report/speed_text.hpp"

#include <fmt/format.h>

#include "src/devices/core_to_core.hpp"

namespace ccl_tests {

std::string speed_text(std::optional<double> before, std::optional<double> after, bool verbose) {
  if (!before || !after) return {};
  const std::string text = fmt::format(
      "core to core: a round trip took {:.0f} ns before the first row and {:.0f} ns after the last",
      *before * 1e9, *after * 1e9);
  if (!same_state(before, after)) return "the machine changed its speed during the run; " + text;
  return verbose ? text : std::string();
}

}  // namespace ccl_tests
