// Messages about a name that is not one of those accepted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// Returns the one of `choices` that a text was probably meant to be, in either case: an alias of other tools, or
// one that differs by at most two edits and by at most half of the characters.
std::optional<std::string> suggestion(std::string_view given,
                                      const std::vector<std::string>& choices);
// Returns "unknown type 'floot', did you mean 'float'? accepted: float, half". Without a suggestion a semicolon
// stands before "accepted". what: "type".
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& choices);

}  // namespace ccl_tests
