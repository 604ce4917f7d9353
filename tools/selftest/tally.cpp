#include "tools/selftest/tally.hpp"

#include <fmt/format.h>

#include "src/record/quantity_text.hpp"

namespace ccl_tests::selftest {

bool Tallies::passed() const {
  if (wrong_cells > 0) return false;
  for (const auto& [kind, tally] : faults)
    if (tally.caught < tally.injected) return false;
  return true;
}

std::string text_of(const Tallies& t) {
  std::string text = t.library;
  text += fmt::format("# {:<22} {:>9} {:>9} {:>9} {:>9}\n", "fault", "injected", "caught", "named",
                      "harmless");
  std::uint64_t injected = 0, caught = 0;
  for (const auto& [kind, f] : t.faults) {
    injected += f.injected;
    caught += f.caught;
    const std::string named = f.nameable == 0 ? "-" : fmt::format("{}/{}", f.named, f.nameable);
    text += fmt::format("  {:<22} {:9} {:9} {:>9} {:9}\n", name(kind), f.injected, f.caught, named,
                        f.harmless);
  }
  for (const auto& [reason, number] : t.reasons)
    text += fmt::format("# harmless: {} x {}\n", number, reason);
  for (const std::string& line : t.missed) text += fmt::format("# MISSED: {}\n", line);
  for (const std::string& line : t.wrong)
    text +=
        fmt::format("# WRONG DATA without a fault, the library's or the verifier's: {}\n", line);
  text += fmt::format("# {}: {} of {} caught; {} wrong without a fault in {} of {}, {} verified\n",
                      t.passed() ? "OK" : "FAILED", caught, counted(injected, "fault"),
                      counted(t.wrong_cells, "cell"), counted(t.plain_rows, "row"),
                      counted(t.plain_calls, "call"), t.verified_calls);
  return text;
}

}  // namespace ccl_tests::selftest
