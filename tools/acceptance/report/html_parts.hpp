// Parts of the report. Every text of the record is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// html_style.cpp: CSS; hatches that pictures refer to.
std::string_view page_style();
std::string_view page_patterns();

// "fail": the CSS class of a verdict.
std::string_view css_class(Verdict verdict);
// Returns a verdict's word with its sign, coloured.
std::string chip(Verdict verdict);

// What is wrong, with the numbers behind it.
std::string wrong_section(const Record& record);
// All checks with their reasons.
std::string checks_section(const Record& record);
std::string stages_section(const Record& record);
// What hosts say of themselves: what differs, then what is alike.
std::string hosts_section(const Record& record);
std::string environment_section(const Record& record);

// Returns names with runs of numbers shortened: "node0 to node6, node9".
std::string name_ranges(const std::vector<std::string>& names);

}  // namespace ccl_tests::acceptance
