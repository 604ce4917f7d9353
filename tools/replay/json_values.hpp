// The values that readers take of a JSON record. Nothing of it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests::replay {

// The levels of lists and objects that a record may have. Traces have ten; copies and the
// readers take a part of the stack for each.
inline constexpr std::size_t most_levels = 1000;

// JSON has no nan and no inf, and programs write them: "nan", "-inf", "NaN", "Infinity". Makes them
// texts of as many bytes, in pieces of a file that divide no word.
class NotNumbers {
 public:
  void replace(std::span<char> piece);

 private:
  bool in_text_ = false, escaped_ = false;
};
// Returns true for the characters of such words.
bool is_of_word(char c);

// Returns the JSON of a text, or a discarded value if it is not JSON. Throws ImpossibleRecord
// if it has more than most_levels.
nlohmann::json parse_text(std::string_view text);

// Returns the member that is a text. Empty if there is none.
std::string text(const nlohmann::json& object, const char* key);
// Returns a copy of the member. Null if there is none.
nlohmann::json member(const nlohmann::json& object, const char* key);

// Returns a whole number from 0 to 2^64 - 1; nullopt if the value is not a number. Throws
// ImpossibleRecord for any other number.
std::optional<std::uint64_t> whole(const nlohmann::json& value);
std::optional<std::uint64_t> whole(const nlohmann::json& object, const char* key);
// Returns seconds of a member that is a number of `unit_s`, or infinite. Else they are not known.
double seconds(const nlohmann::json& object, const char* key, double unit_s);
// Reads [0, 1], or a text that holds it. Returns nothing for what is neither.
std::vector<std::size_t> list(const nlohmann::json& value);
// The same for ranks. Throws ImpossibleRecord for what no ranks can be.
std::vector<int> ranks(const nlohmann::json& value);

}  // namespace ccl_tests::replay
