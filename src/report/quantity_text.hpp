// Sizes and times in the footer's sentences.
#pragma once

#include <cstddef>
#include <string>

namespace ccl_tests {

// "64 KiB"; "1000 B" if no larger unit divides it.
std::string binary_size_text(std::size_t bytes);

// "1.5000", "0.00001234": of a number below 1 at least four digits behind the zeros, never an exponent.
std::string digits_text(double number);

// "88 us", "0.157 us", "1.2 ms", "3 s": three digits.
std::string seconds_text(double seconds);

}  // namespace ccl_tests
