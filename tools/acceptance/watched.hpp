// A measurer that notes what became of its rounds.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/measurer.hpp"

namespace ccl_tests::acceptance {

// Forwards to another measurer. Counts rounds, and notes which hosts no longer answer.
class WatchedMeasurer : public PairMeasurer {
 public:
  // `hosts`: one more than the largest number of a host.
  WatchedMeasurer(PairMeasurer& inner, std::size_t hosts) : inner_(inner), missed_(hosts) {}
  std::vector<PairTimes> measure(const Round& round) override;
  bool enlarge() override;

  // Returns the number of rounds since the last enlarge().
  std::size_t rounds() const { return rounds_; }
  // Returns whether the host's last three pairs are missing. A host that is well may meet a dead one
  // twice in a row.
  bool gone(int host) const { return missed_[static_cast<std::size_t>(host)] >= 3; }

 private:
  PairMeasurer& inner_;
  std::size_t rounds_ = 0;
  std::vector<int> missed_;  // in a row, by number of the host
};

}  // namespace ccl_tests::acceptance
