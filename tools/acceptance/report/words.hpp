// Numbers, times and long texts of a record, in words. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/record/quantity_text.hpp"  // counted(), for those who include this
#include "src/report/text.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns "231 GB/s": three digits. "not measured" for NaN.
std::string rate_text(double bytes_per_second);

// Returns a value with its unit: "231 GB/s", "1.2 ms", "64 KiB", "1.56". "not measured" for NaN.
std::string number_text(const Number& number);

// Returns "0.4 s", "12 s", "3 min 05 s", "1 h 02 min"; "unknown" if an end is missing.
std::string duration_text(double begin_s, double end_s);
std::string duration_text(double seconds);

// Returns the duration of a stage; "-" if it was not run.
std::string stage_duration(const Stage& stage);

struct Quantity {
  std::string name, text;
};
// Returns the numbers of a check for people. x, x_low and x_high are one line: "1.56 [1.49, 1.63]".
std::vector<Quantity> quantities(const std::vector<Number>& numbers);

}  // namespace ccl_tests::acceptance
