// One rank's part of a self-test.
#pragma once

#include "src/job/rank.hpp"
#include "tools/selftest/arguments.hpp"
#include "tools/selftest/tally.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::selftest {

// Runs every program without and with faults, and adds what came of it on rank 0. Returns the exit code.
// Collective. Throws what the library, a peer or a limit throws.
int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns, Tallies& tallies);

}  // namespace ccl_tests::selftest
