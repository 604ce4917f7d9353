// nccl-tests' -a: one number for the times of all ranks.
#pragma once

#include <span>

namespace ccl_tests {

enum class Average : int { rank0 = 0, mean = 1, min = 2, max = 3 };

// values: one of each rank, in rank order; at least one.
double average(Average how, std::span<const double> values);

}  // namespace ccl_tests
