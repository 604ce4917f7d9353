// Which of several failures that come within moments is the cause of the others.
#pragma once

#include "src/bootstrap/control.hpp"

namespace ccl_tests {

// What to report when `own` ended a rank of this process: what the control plane learns within
// moments, as a library's error is often the shadow of a peer's death or of a peer's timeout; `own`
// otherwise. Blocks for up to 3 s when there are other processes. Thread-safe.
Failure explain(Control& control, const Failure& own);

}  // namespace ccl_tests
