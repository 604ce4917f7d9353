// Rows of a stage against the plan's limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/record/record.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// The bus bandwidth of a row's faster placement. Bytes per second; low and high: of its interval.
struct BusBandwidth {
  double value = 0, low = 0, high = 0;
  double seconds = 0, seconds_low = 0, seconds_high = 0;
};
BusBandwidth bus_bandwidth(const Row& row);

// Returns the limit of a stage's program and size; null: none.
const RateLimit* limit_of(const Plan& plan, std::string_view stage, std::string_view program,
                          std::size_t bytes);

// Returns the check of a row: wrong data FAIL; a limit that all of its interval misses FAIL or WARN,
// one within the interval INCONCLUSIVE; without a limit SKIPPED, with the numbers.
Check row_check(const Plan& plan, const std::string& stage, const std::string& subject,
                std::string_view program, std::size_t bytes, const Row& row);

// Returns the check of a host's best bus bandwidth against what its GPUs' links carry in one direction (bytes per
// second) and the share of it that is expected. Less is INCONCLUSIVE: a library need not use the links well.
Check nvlink_check(const std::string& host, double busbw, double links, double efficiency);

}  // namespace ccl_tests::acceptance
