// A word about a wait that takes long.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
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
  ~WaitNotice();
  WaitNotice(const WaitNotice&) = delete;
  WaitNotice& operator=(const WaitNotice&) = delete;

  // Says what is waited for from now on; nothing is said of an empty text. `what` is asked on the
  // thread of this object each time.
  void set(std::function<std::string()> what);
  void set(std::string what) {
    set([what = std::move(what)] { return what; });
  }

 private:
  void run(double first_s, double again_s);

  std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<std::string()> what_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace ccl_tests
