// A program of one's own on the ranks of a job: what frameworks call init.
#pragma once

#include <functional>
#include <string>

#include "src/primitives/group.hpp"

namespace ccl_tests {

struct DistributedOptions {
  std::string backend = "auto";  // as --backend
  BackendOptions backend_options = {};
  double limit_s =
      120;  // of one exchange and one operation; of joining: backend_options.init_timeout_s
};

// Runs body(default group) with this process as one rank among those that its launcher started
// (see detect_launch), alone without one. Returns the exit code: Exit::passed, or that of the first
// failure of any rank, which is printed on stderr. An exception that leaves `body` ends all ranks;
// when another rank is lost, this function ends the process.
int run_distributed(const DistributedOptions& options,
                    const std::function<void(primitives::Group& world)>& body);

}  // namespace ccl_tests
