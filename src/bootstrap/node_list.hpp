// Slurm's compressed lists of host names.
#pragma once

#include <string>

namespace ccl_tests {

// The first host of a list as SLURM_STEP_NODELIST has it: "n[01-03,07],gpu2" -> "n01",
// "rack[2-3]-node[10-12]" -> "rack2-node10". Empty for a list that is none.
std::string first_host(const std::string& node_list);

}  // namespace ccl_tests
