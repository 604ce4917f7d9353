#include "src/bootstrap/wait_notice.hpp"

#include <utility>

#include "src/bootstrap/deadline.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {

WaitNotice::WaitNotice(std::function<void(std::string_view)> log, double first_s, double again_s)
    : log_(std::move(log)), thread_(start_thread([=, this] { run(first_s, again_s); })) {}

WaitNotice::~WaitNotice() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WaitNotice::set(std::function<std::string()> what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void WaitNotice::run(double first_s, double again_s) {
  std::unique_lock lock(mutex_);
  for (double pause_s = first_s;
       !changed_.wait_for(lock, seconds_to_duration(pause_s), [this] { return leaving_; });
       pause_s = again_s) {
    const std::function<std::string()> what = what_;
    lock.unlock();
    if (const std::string text = what ? what() : std::string(); !text.empty())
      log_("waits for " + text);
    lock.lock();
  }
}

}  // namespace ccl_tests
