// One rank's part of mesh_perf.
#pragma once

#include "src/job/rank.hpp"
#include "tools/mesh/arguments.hpp"
#include "tools/mesh/mesh_report.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::mesh {

// Measures all rounds, and reports on rank 0. report: null in other processes than rank 0's. Returns
// the exit code, the same on every rank. Collective over all ranks. Throws what the library, a peer
// or a limit throws.
int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns, MeshReport* report);

}  // namespace ccl_tests::mesh
