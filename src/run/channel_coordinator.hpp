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
  // row: what is measured, for messages. limit_s: of one exchange. rank: outlives it.
  ChannelCoordinator(Rank& rank, std::string row, double limit_s);

  Step agree(const Step& decision) override;
  std::vector<Samples> gather(const Samples& mine) override;

 private:
  Rank& rank_;
  std::string row_;
  double limit_s_;
};

}  // namespace ccl_tests
