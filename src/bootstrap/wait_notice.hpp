// A word about a wait that takes long.
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace ccl_tests {

// Says what this process waits for 3 s after its construction, and every 30 s from then on.
class WaitNotice {
 public:
  // Calls `log` with "waits for ..." on a thread of its own. Says nothing before set(). Throws Unsupported
  // if the system refuses a thread.
  explicit WaitNotice(std::function<void(std::string_view)> log, double first_s = 3,
                      double again_s = 30);

  // Says what is waited for from now on; nothing is said of an empty text. `what` is asked on the
  // thread of this object each time.
  void set(std::function<std::string()> what);
  void set(std::string what) {
    set([what = std::move(what)] { return what; });
  }

 private:
  void run(const std::stop_token& stop, double first_s, double again_s);

  std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::function<std::string()> what_;
  std::jthread thread_;  // last: ends before the others do
};

}  // namespace ccl_tests
