// Some of a job's processes, which exchange among themselves.
#pragma once

#include <string>
#include <vector>

namespace ccl_tests {

struct Team {
  std::string name = {};            // one team's in the whole job; empty: all processes
  std::vector<int> processes = {};  // ascending, without repetition; of a named team
  int root = 0;                     // the process of the team's rank 0
};

}  // namespace ccl_tests
