// The rounds of a confirmation: suspects with good hosts, and the other good hosts as controls.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/schedule.hpp"

namespace ccl_tests::acceptance {

// Rounds in which each suspect meets a good host, another one each time until all had their turn,
// and the other good hosts meet each other at random. Good hosts are those that are no suspects,
// never the fastest ones only: those would make biased controls.
class PartnerRounds {
 public:
  PartnerRounds(std::vector<int> good, Random& random);
  // Returns a round whose first pairs are those of `suspects`, which are still to be measured.
  // Suspects take turns if there are more of them than good hosts.
  Round next(const std::vector<int>& suspects);

 private:
  std::vector<int> good_;
  Random& random_;
  std::size_t turn_ = 0;
};

}  // namespace ccl_tests::acceptance
