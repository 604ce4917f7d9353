// The clocks of a job's machines, so that moments of ranks on several of them can be compared.
#pragma once

#include <optional>
#include <vector>

#include "src/job/rank.hpp"
#include "src/measure/clocks.hpp"

namespace ccl_tests {

class Communicator;

// Compares the machines' clocks before and after a cell is measured: one rank of each sends rank 0 a
// few messages of the library under test. Used by the rank's thread; collective over all ranks.
class HostClocks {
 public:
  // Compares for the first time. wanted: otherwise, and where buffers lie on GPUs, nothing is ever
  // compared. world: of all ranks. limit_s: of an exchange over the control channel. All must outlive
  // it.
  HostClocks(Rank& rank, Communicator& world, bool wanted, double limit_s);

  // Compares again, and moves the moments of all ranks' samples, which rank 0 has, onto its clock.
  // Returns how many seconds a moment may be wrong by: 0 on one machine. nullopt: on other ranks, or
  // not compared.
  std::optional<double> unify(std::vector<Samples>& samples);

 private:
  std::vector<ClockOffset> compare();

  Rank& rank_;
  Communicator& world_;
  double limit_s_;
  bool compares_;
  std::vector<ClockOffset> before_;  // on rank 0, by rank
};

}  // namespace ccl_tests
