// The hub's exchanges: one of each team may be under way.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "src/bootstrap/hub_round.hpp"

namespace ccl_tests {

class HubRounds {
 public:
  explicit HubRounds(int processes);

  // The round of the contribution's team, which now has it. Throws Error when it is not this
  // process's turn, or the team is none.
  HubRound& add(int process, Contribution contribution);

  // The earliest of the rounds that are under way; TimePoint::max() when none is.
  TimePoint deadline() const;

  // Processes that rounds under way wait for and that `wanted` is true of, ascending. late: only of
  // rounds whose deadline has come.
  template <class Wanted>
  std::vector<int> missing(bool late, Wanted&& wanted) const {
    const TimePoint now = std::chrono::steady_clock::now();
    std::vector<int> processes;
    for (const auto& [name, round] : rounds_) {
      if (!round.under_way() || (late && round.deadline() > now)) continue;
      for (const int p : round.processes())
        if (!round.has(p) && wanted(p)) processes.push_back(p);
    }
    std::sort(processes.begin(), processes.end());
    processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
    return processes;
  }

 private:
  int processes_;
  std::map<std::string, HubRound> rounds_;  // by team
};

}  // namespace ccl_tests
