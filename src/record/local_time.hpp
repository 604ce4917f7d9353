// Points in time, as text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace ccl_tests {

// Returns the time now in ISO 8601 with milliseconds and the local zone:
// "2026-11-20T22:33:44.125+01:00".
std::string local_time();
std::string local_time(std::chrono::system_clock::time_point at);

// Returns nccl-tests' form of such a time, without zone: "2026-11-20 22:33:44".
std::string seconds_form(std::string_view iso);

}  // namespace ccl_tests
