// What only the end of the process may give back.
#pragma once

#include <memory>

namespace ccl_tests {

// Keeps `thing` until the process ends, which does not destroy it. Thread-safe.
void leave_to_process_end(std::shared_ptr<void> thing);

}  // namespace ccl_tests
