// How long the waits of a row may take.
#pragma once

#include "src/options/options.hpp"
#include "src/run/problem.hpp"

namespace ccl_tests {

struct WaitLimits {
  // Of one operation, until the watchdog ends the job: a little more than the limit that the library
  // was given, so that the library's own error comes first. 0: none.
  double operation_s = 0;
  // Of one exchange over the control channel: ranks come to it after calls whose length nobody knows.
  double exchange_s = 0;
  // Of a block as it is planned, far below exchange_s: calls can become slower while it runs.
  double block_s = 0;
  // Of making an operation and its check. 0: none.
  double agreement_s = 0;
};

// Pure. -T 0: practically none.
WaitLimits wait_limits(const Options& options, const Problem& problem);

}  // namespace ccl_tests
