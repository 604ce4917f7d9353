// A run beside an earlier one of the same plan (--baseline). Pure.
#pragma once

#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Throws UsageError that names the difference if rows of the two runs say nothing about each other:
// another plan, library under test, or number of hosts or ranks.
void check_same_run(const Record& before, const Record& now);

// Returns a check for each row that is slower than in `before`: WARN, SLOWER_THAN_BEFORE; and one for all rows
// that both runs measured. A row is slower if the intervals of its two bus bandwidths do not touch and leave
// more than `slowdown` between their values, the share that times may be longer: single runs show how
// far they are apart, not that the next one will be. Without a common row INCONCLUSIVE.
std::vector<Check> compare_rows(const Record& before, const Record& now, double slowdown);

}  // namespace ccl_tests::acceptance
