// One rank's part of init_perf: how long a job takes to start.
#pragma once

#include "src/run/rank_job.hpp"

namespace ccl_tests {

// What init_perf is called and offers; it is no collective and moves 8 bytes.
extern const Collective init_spec;

// A RankBody. Collective. Per cycle (-N): the library's communicator is made, an all_reduce of 8
// bytes is run twice and checked, everything is torn down. Rank 0 prints one line per cycle, and
// writes it to the .jsonl file of -J: the slowest rank's seconds.
void run_init(RankJob& job, ControlChannel& channel, Progress& progress, Pulse& pulse,
              bool first_of_process);

}  // namespace ccl_tests
