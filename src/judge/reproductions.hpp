// What a run says of the bits of its results (--reproducible).
#pragma once

#include <optional>
#include <string>

#include "src/judge/digest_file.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// "stable (20 calls, digest 0123456789abcdef); ...", behind the row's line in the table.
std::string reproduction_text(const Row& row);

// "the same again - 12 rows: 4 order-independent, 8 stable", in the footer.
std::string reproduction_text(const RunSummary& summary);

// What a row's digest is of: "all_reduce_perf float sum, 16384 elements, 3 ranks, seed 1".
std::string digest_name(const RunInfo& run, const Row& row);

// Sets what earlier rows and runs say of a row's digest. One that is wrong or varies by itself is neither compared nor
// kept.
void compare_digests(DigestFile& digests, const RunInfo& run, Row& row);

// Counts a row that has a reproduction. requested: the size that was asked for.
void add_reproduction(std::optional<ReproductionSummary>& summary, const Row& row,
                      std::size_t requested);

}  // namespace ccl_tests
