// Strict values of flags and variables. All throw UsageError saying what was given and what would
// be accepted.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "src/options/options.hpp"

namespace ccl_tests {

int parse_int(const std::string& text, int lowest, int highest);
double parse_number(const std::string& text, double lowest);   // finite, decimal
std::vector<std::string> split_list(const std::string& text);  // by commas; no empty items
std::vector<DataType> parse_types(const std::string& text);    // names, a comma list, or "all"
std::vector<ReduceOp> parse_ops(const std::string& text);
SizeLimit parse_limit(const std::string& text, std::string_view unit);  // "64M:1.5"
std::string parse_name(const std::string& text, const std::vector<std::string>& names);
std::string parse_choice(const std::string& text, std::initializer_list<std::string_view> choices);

// The one of `choices` that differs from text by the fewest edits.
std::string nearest(std::string_view text, const std::vector<std::string>& choices);

}  // namespace ccl_tests
