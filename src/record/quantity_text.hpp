// Numbers, sizes, times and dates as text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ccl_tests {

// "1 row", "8 rows".
std::string counted(std::uint64_t count, std::string_view noun);

// "64 KiB"; "1000 B" if no larger unit divides it.
std::string binary_size_text(std::size_t bytes);

// "1.5000", "0.00001234": below 1 four digits or more after the zeros, never an exponent.
std::string digits_text(double number);

// "88 us", "0.157 us", "1.2 ms", "3 s": three digits.
std::string seconds_text(double seconds);

// Returns the time in ISO 8601 and local zone: "2026-11-20T22:33:44.125+01:00".
std::string local_time(std::chrono::system_clock::time_point at = std::chrono::system_clock::now());

// Returns nccl-tests' form of such a time, without zone: "2026-11-20 22:33:44".
std::string seconds_form(std::string_view iso);

}  // namespace ccl_tests
