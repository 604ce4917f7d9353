// Whether a library gives the same bits again: a row's reduction, repeated on data whose result depends
// on the order of additions (--reproducible).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/core/operation.hpp"
#include "src/job/rank.hpp"
#include "src/run/operation_workload.hpp"
#include "src/run/point.hpp"
#include "src/run/reproduction.hpp"
#include "src/run/slots.hpp"

namespace ccl_tests {

class Communicator;

// What the check works with. All must outlive it.
struct ReproductionSetup {
  Rank& rank;
  ControlChannel& group;  // of the ranks that make a call together
  Communicator& communicator;
  Operation& operation;
  const Arena& arena;
  Slots slots;  // of the row; the first is used
  WaitLimits limits;
  std::uint64_t seed;
};

// Returns on rank 0 what each rank of the world found, elsewhere nothing. Collective over all ranks. Throws what the
// library or a peer throws.
std::vector<RankReproduction> reproduce(const Problem& problem, const ReproductionSetup& setup);

}  // namespace ccl_tests
