// What a person reads when the run has ended: one screen.
#pragma once

#include <cstddef>
#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

struct TerminalStyle {
  std::string file =
      {};  // the verdict file, which has what is not shown; empty: none was asked for
  std::size_t width = 100;  // bytes of a line
};

// Lines of what is wrong that one screen shows.
inline constexpr std::size_t shown_wrong = 12;

// Returns the headline, the stages, what is wrong and what to do next.
std::string terminal_text(const Record& record, const TerminalStyle& style = {});

}  // namespace ccl_tests::acceptance
