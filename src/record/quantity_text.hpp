// Numbers, sizes and times in sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ccl_tests {

// "1 row", "8 rows".
std::string counted(std::uint64_t count, std::string_view noun);

// "64 KiB"; "1000 B" if no larger unit divides it.
std::string binary_size_text(std::size_t bytes);

// "1.5000", "0.00001234": of a number below 1 at least four digits behind the zeros, never an exponent.
std::string digits_text(double number);

// "88 us", "0.157 us", "1.2 ms", "3 s": three digits.
std::string seconds_text(double seconds);

}  // namespace ccl_tests
