// Who can be in a job together, and how to say that somebody cannot.
#pragma once

#include <string>
#include <vector>

#include "src/bootstrap/control_frame.hpp"

namespace ccl_tests {

// "a, b, c and 5 more"
std::string join_names(const std::vector<std::string>& names);

// Why `hello` cannot be in the job of `self`; empty when it can.
std::string disagreement(const Hello& self, const Hello& hello);

// "rank 2 exists twice: on a (pid 1) and on b (pid 2)"
std::string twice(const Hello& a, const Hello& b);

}  // namespace ccl_tests
