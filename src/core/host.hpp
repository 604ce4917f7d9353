// Who this machine is.
#pragma once

#include <string>

namespace ccl {

// Its name; several may have the same.
std::string this_host();

// Identity of the running kernel: equal on two ranks exactly when they are on one machine and so
// share CLOCK_MONOTONIC. `root`: where /proc is, for tests.
std::string machine_id(const std::string& root = "");

}  // namespace ccl
