#include "src/bootstrap/wait_notice.hpp"

#include <utility>

#include "src/core/thread.hpp"

namespace ccl_tests {

WaitNotice::WaitNotice(std::function<void(std::string_view)> log, double first_s, double again_s)
    : log_(std::move(log)),
      thread_(start_thread<std::jthread>(
          [=, this](const std::stop_token& stop) { run(stop, first_s, again_s); })) {}

void WaitNotice::set(std::function<std::string()> what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void WaitNotice::run(const std::stop_token& stop, double first_s, double again_s) {
  for (double pause_s = first_s; wait_unless_stopped(stop, pause_s); pause_s = again_s) {
    std::unique_lock lock(mutex_);
    const std::function<std::string()> what = what_;
    lock.unlock();
    if (const std::string text = what ? what() : std::string(); !text.empty())
      log_("waits for " + text);
  }
}

}  // namespace ccl_tests
