// Comment lines of the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// Returns the text on one line, without the words by which scripts tell a run's outcome: "Test
// failure", "Out of bounds values", "Avg bus bandwidth" and "Collective test concluded". A host's
// name must not decide whether a run passed.
std::string harmless(std::string_view text);

// Returns one comment line for each line of text, harmless.
std::string comment(std::string_view text);
std::string comments(const std::vector<std::string>& texts);

// Returns "# Correct  : yes - ...": lines of at most 100 columns, broken at blanks.
std::string answer(std::string_view label, std::string_view text);

}  // namespace ccl_tests
