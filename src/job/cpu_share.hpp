// Whether the ranks have the CPUs that their times take for granted.
#pragma once

#include <string>
#include <vector>

#include "src/core/backend.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// A line for the header that names the machine whose ranks are shortest of CPUs; empty when all
// have enough.
std::string cpu_shortage(const std::vector<RankIdentity>& ranks, const Backend& backend);

}  // namespace ccl_tests
