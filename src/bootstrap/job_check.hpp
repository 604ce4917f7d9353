// Who can be in a job together, and how to say that somebody cannot.
#pragma once

#include <string>
#include <vector>

#include "src/bootstrap/control_frame.hpp"

namespace ccl_tests {

// "a, b, c and 5 more"
std::string join_names(const std::vector<std::string>& names);

// True if processes that say so can be in one job.
bool agree(const Hello& a, const Hello& b);
bool agree_but_for_flags(const Hello& a, Hello b);

// Returns the first thing that `hello` has otherwise: "WORLD_SIZE is 4, on rank 0 on a (pid 1) it is 3".
std::string difference(const Hello& hello, const Hello& from);

// Returns a line that names the processes which differ from the most others, with the first thing
// that each has otherwise. `all`: not empty.
std::string disagreement(std::vector<Hello> all);

// "rank 2 exists twice: on a (pid 1) and on b (pid 2)"
std::string twice(const Hello& a, const Hello& b);

}  // namespace ccl_tests
