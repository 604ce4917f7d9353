// Names and values in messages: quoted, and the nearest of those that are accepted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// Characters of a value that a message shows.
inline constexpr std::size_t shown_characters = 60;
inline constexpr std::size_t shown_path_characters = 240;

// Returns `text` in single quotes, fit for one line of a terminal: control characters as \n or
// \x1b, and of a longer text its first characters, "..." and the length of the whole.
std::string quote(std::string_view text, std::size_t most = shown_characters);

// Returns `text` in single quotes, one word of a shell command.
std::string shell_quoted(std::string_view text);

// Returns the one of `choices` that a text was probably meant to be, in either case: an alias of
// other tools, or one that differs by at most two edits and by at most half of the characters. Two
// neighbours that changed places are one edit.
std::optional<std::string> suggestion(std::string_view given,
                                      const std::vector<std::string>& choices);
// Returns "unknown type 'floot', did you mean 'float'? accepted: float, half". Without a suggestion
// a semicolon stands before "accepted". what: "type".
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& choices);

}  // namespace ccl_tests
