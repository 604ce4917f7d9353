#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "src/run/job.hpp"

namespace ccl {

struct FailureBox::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<Failure> failure;
  bool expected = false;
  int finished = 0;
};

FailureBox::FailureBox() : state_(std::make_unique<State>()) {}
FailureBox::~FailureBox() = default;

void FailureBox::expect() {
  const std::lock_guard lock(state_->mutex);
  state_->expected = true;
}

void FailureBox::put(Failure failure) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->failure) state_->failure = std::move(failure);
  state_->changed.notify_all();
}

bool FailureBox::failed() const {
  const std::lock_guard lock(state_->mutex);
  return state_->failure.has_value();
}

Failure FailureBox::value() const {
  const std::lock_guard lock(state_->mutex);
  return state_->failure.value_or(Failure{});
}

bool FailureBox::wait_for_end(int ranks) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(
      lock, [&] { return state_->failure || (state_->finished >= ranks && !state_->expected); });
  return state_->failure.has_value();
}

bool FailureBox::wait_for_ranks(int ranks, double limit_s) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(limit_s),
                                  [&] { return state_->finished >= ranks; });
}

void FailureBox::finished() {
  const std::lock_guard lock(state_->mutex);
  ++state_->finished;
  state_->changed.notify_all();
}

}  // namespace ccl
