// Programs from their first line to their exit code, which they return.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/programs/run_program.hpp"

namespace ccl_tests {

struct JobSetup;
struct Options;

// Runs every form of `collective` on loopback, whose collectives are written from their
// definitions: 1 to 9 ranks (a paired collective: 2 ranks), every root, out of place and in place,
// several sizes. Checks that the results are the expected blocks, that the blocks stay within the
// layout and do not overlap, and that bus_factor stands for the bytes that an independent count
// gives. Returns one line for each error.
std::vector<std::string> find_spec_errors(const Collective& collective);

// --self-check: prints the errors and a verdict. Returns 0 or Exit::wrong_data.
int self_check(const Collective& collective, std::FILE* out);

// The name and flags of init_perf, which times how a job starts, and is no collective.
extern const Collective init_spec;
// Runs init_perf after its command line was read.
int run_init(const Options& options, const JobSetup& job);

}  // namespace ccl_tests
