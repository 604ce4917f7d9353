// Threads that the system may refuse.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests {

// Throws Unsupported where the system gives this process no more threads or memory for one.
template <class F>
std::thread start_thread(F&& f) {
  try {
    return std::thread(std::forward<F>(f));
  } catch (const std::system_error& e) {
    throw Unsupported(std::string("a thread cannot be started: ") + e.what() +
                      "; take fewer ranks in a process, or allow more (ulimit -u, -v)");
  }
}

}  // namespace ccl_tests
