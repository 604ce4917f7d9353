// Values of users in messages, and words of a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ccl_tests {

// Characters of a value that a message shows.
inline constexpr std::size_t shown_characters = 60;
inline constexpr std::size_t shown_path_characters = 240;

// Returns `text` in single quotes, fit for one line of a terminal: control characters as \n or
// \x1b, and of a longer text its first characters, "..." and the length of the whole.
std::string quote(std::string_view text, std::size_t most = shown_characters);

// Returns `text` in single quotes, one word of a shell command.
std::string shell_quoted(std::string_view text);

}  // namespace ccl_tests
