// How the ranks of a job hear what to measure next.
#pragma once

#include <string>
#include <vector>

#include "src/job/rank.hpp"
#include "src/measure/measurement.hpp"

namespace ccl_tests {

// Rank 0 decides; steps and samples travel over the control channel.
class ChannelCoordinator : public Coordinator {
 public:
  // row: what is measured, for messages. moments: those of samples travel, not their durations alone.
  // limit_s: of one exchange. rank: outlives it.
  ChannelCoordinator(Rank& rank, std::string row, bool moments, double limit_s);

  Step agree(const Step& decision) override;
  std::vector<Samples> gather(const Samples& mine) override;

 private:
  Rank& rank_;
  std::string row_;
  bool moments_;
  double limit_s_;
};

}  // namespace ccl_tests
