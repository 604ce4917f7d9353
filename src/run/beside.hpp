// Rounds of a row's operation beside a load on each rank (--beside).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/devices/load.hpp"
#include "src/measure/beside.hpp"
#include "src/run/point.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

// Returns this rank's load, which does not work yet. Throws Unsupported if copies have no GPU or the
// system gives no thread; Error.
std::unique_ptr<Load> start_load(const Rank& rank, LoadKind kind);

// Returns the header's line: what the load is, and how many CPUs ranks and loads have.
std::string beside_note(const Rank& rank, LoadKind kind);

// Returns the wall time of a call of the slowest rank of all rows; 0 without rows.
double seconds_of_call(const Problem& problem, const std::vector<Row>& rows);

// The things that rounds work with. All must outlive them.
struct BesideSetup {
  Rank& rank;
  Communicator& world;
  Workload& workload;
  Clock& clock;  // that samples are of: CLOCK_MONOTONIC, as the load's
  Load& load;
  WaitLimits limits;
  std::size_t most_calls = 0;  // of a block; 0: any number
  double call_s = 0;           // of a call alone, on rank 0
  double budget_s = 0;         // of all rounds; 0: no limit (--row-time)
};

// Takes as many rounds as rank 0 decides. Returns the rounds of each rank on rank 0, elsewhere
// nothing. Collective over all ranks. Throws what the library, a peer or the load throws.
std::vector<std::vector<BesideRound>> take_rounds(const BesideSetup& setup);

}  // namespace ccl_tests
