// The header of a run, as data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/job/rank.hpp"
#include "src/measure/clocks.hpp"
#include "src/options/options.hpp"
#include "src/record/record.hpp"
#include "src/run/link_ceiling.hpp"
#include "src/run/point.hpp"

namespace ccl_tests {

class Communicator;

// "8 processes on 2 hosts, 4 on each", "2 threads of 1 process on 1 host".
std::string placement(const std::vector<RankIdentity>& ranks, int processes);

// What a run has found out about itself before its first row.
struct HeaderFacts {
  const RankGroups& groups;  // process groups
  const SweepRange& range;
  std::optional<std::size_t> reduced_max;  // -e lowered to this because of memory
  const Communicator& communicator;
  std::vector<std::string> left_out;   // lines about what is not measured
  ClockProperties clock;               // of rank 0
  std::optional<double> core_to_core;  // of process 0; nullopt: not probed
  LinkCeiling ceiling;
  bool intervals;  // rows are streams or samples, not batches
};

// Returns the header of a run. On rank 0.
RunInfo describe(const Rank& rank, const Collective& collective, const Options& options,
                 const HeaderFacts& facts);

}  // namespace ccl_tests
