// Threads that the system may refuse.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests {

// Throws Unsupported where the system gives this process no more threads or memory for one.
// Thread: std::jthread for one that its destructor is to stop.
template <class Thread = std::thread, class F>
Thread start_thread(F&& f) {
  try {
    return Thread(std::forward<F>(f));
  } catch (const std::system_error& e) {
    throw Unsupported(std::string("a thread cannot be started: ") + e.what() +
                      "; take fewer ranks in a process, or allow more (ulimit -u, -v)");
  }
}

// Waits for so long, or until `stop` is requested. Returns false if it is.
inline bool wait_unless_stopped(const std::stop_token& stop, double seconds) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, std::chrono::duration<double>(seconds),
                                         [] { return false; });
  return !stop.stop_requested();
}

}  // namespace ccl_tests
