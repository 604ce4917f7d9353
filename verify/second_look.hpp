// A second opinion on what the loops over a memory have found.
#pragma once

#include <cstdint>
#include <string>

#include "verify/loops.hpp"

namespace ccl_tests::verify {

// Returns in words whether elements found.first to found.last of the run are wrong: copied to the host and compared
// one by one, with neither the loops' table nor their code. table: what run.table was placed from. tolerance: as for
// Loops::compare.
std::string second_look(Loops& loops, const StridedRange& run, const Table& table,
                        std::uint64_t tolerance, const Difference& found);

}  // namespace ccl_tests::verify
