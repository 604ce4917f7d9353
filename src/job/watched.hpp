// A library whose calls are told to an Activity, for programs that call it themselves.
#pragma once

#include <memory>
#include <string>

#include "src/core/backend.hpp"
#include "src/job/activity.hpp"

namespace ccl_tests {

// Returns a backend whose communicators do what library's do. While a rank is inside a call, its activity
// says which, and expects an end within the communicator's time limit, the time for the bytes, and a
// little more; then it says `between`, and how many calls it has made. Both outlive it.
std::unique_ptr<Backend> watch_calls(const Backend& library, Activity& activity,
                                     std::string between);

}  // namespace ccl_tests
