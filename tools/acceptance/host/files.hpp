// Small files of /proc, /sys and /etc. What cannot be read is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests::acceptance {

// Returns the first line, without blanks around it.
std::string line_in(const std::filesystem::path& file);
std::string text_of(const std::filesystem::path& file);
// Returns what stands behind "name:" or "name=" in the first line that begins so.
std::string value_in(const std::filesystem::path& file, std::string_view name);
// Returns the names of what lies in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);
// Returns the count in the file's first line; nullopt if the file is not there, is empty, or has none.
std::optional<std::uint64_t> count_in(const std::filesystem::path& file);
// Returns the number that a text begins with; 0 if it begins with none.
double leading_number(std::string_view text);

}  // namespace ccl_tests::acceptance
