// Strings from outside (host names, arguments, error texts) made fit for a file.
#pragma once

#include <string>
#include <string_view>

namespace ccl_tests {

// Bytes that are not UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view text);

// valid_utf8 on one line: control characters become spaces.
std::string single_line(std::string_view text);

// Returns the beginning of `text` in at most `most` bytes, whole UTF-8 characters. A text that lost
// something ends in "...", after a whole word if one ends in the second half.
std::string shortened(std::string_view text, std::size_t most);

// single_line as the text of an element or a quoted attribute of XML or HTML.
std::string xml_text(std::string_view text);
// xml_text of each line; ends of lines stay.
std::string xml_lines(std::string_view text);

// Comment lines of the table.

// Returns the text on one line, without the words by which scripts tell a run's outcome: "Test
// failure", "Out of bounds values", "Avg bus bandwidth" and "Collective test concluded". A host's
// name must not decide whether a run passed.
std::string harmless(std::string_view text);

// Returns one comment line for each line of text, harmless.
std::string comment(std::string_view text);

// Returns "# Correct  : yes - ...": lines of at most 100 columns, broken at blanks. None for an empty
// text.
std::string answer(std::string_view label, std::string_view text);

}  // namespace ccl_tests
