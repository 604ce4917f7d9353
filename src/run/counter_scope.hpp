// Which rank counts what of a job's processes and machines.
#pragma once

#include "src/devices/process_counters.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// Returns what `rank` counts: the first rank of a process its events, the first rank of a machine
// the steal of the CPUs of all ranks there. Pure.
CounterScope counter_scope(const RankTable& table, int rank);

}  // namespace ccl_tests
