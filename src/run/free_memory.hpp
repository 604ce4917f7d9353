// What memory the ranks of a job have for buffers once the library under test has taken its own.
#pragma once

#include "src/job/rank.hpp"

namespace ccl_tests {

// Returns the job's table, in which `memory` of ranks whose buffers lie on GPUs is what is free there now.
// Collective over all ranks.
RankTable table_with_free_memory(Rank& rank);

}  // namespace ccl_tests
