// alltoallv's own settings, from nccl-tests' environment variables.
#pragma once

#include "src/options/options.hpp"

namespace ccl_tests {

// NCCL_TESTS_ALLTOALLV_SPREAD (0..1), _MATRIX_FILE (whitespace-separated square matrix of bytes),
// _MATRIX_SCALE, _PRINT_SUMMARY (0 or 1). Throws UsageError naming the variable. The matrix's size
// is checked against the ranks by check_matrix.
void read_alltoallv_options(const GetVariable& environment, CollectiveOptions& options);

// Header lines: what each rank sends and receives in a row of `bytes`; nothing unless asked for, or
// when the collective takes no NCCL_TESTS_ALLTOALLV_* variables.
std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes);

// Throws UsageError when the matrix is smaller than `ranks`.
void check_matrix(const CollectiveOptions& options, int ranks);

}  // namespace ccl_tests
