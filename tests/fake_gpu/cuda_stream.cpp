#include "tests/fake_gpu/cuda_stream.hpp"

#include <thread>
#include <utility>

namespace fake_gpu {

bool& on_stream_thread() {
  thread_local bool here = false;
  return here;
}

Stream::Stream(Memory& memory, int device, bool blocking)
    : device_(device), blocking_(blocking), queue_(std::make_shared<Queue>(memory)) {}

Stream::~Stream() {
  const std::lock_guard lock(queue_->mutex);
  queue_->closed = true;
  queue_->changed.notify_all();
}

std::uint64_t Stream::submit(Task task) const {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->tasks.push_back(std::move(task));
    // Detached: a process may end with work pending.
    if (!std::exchange(queue_->started, true)) std::thread([q = queue_] { q->work(); }).detach();
    ticket = ++queue_->submitted;
  }
  queue_->changed.notify_all();  // without the lock, which who wakes needs
  return ticket;
}

std::uint64_t Stream::submitted() const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->submitted;
}

bool Stream::done(std::uint64_t ticket) const {
  const std::lock_guard lock(queue_->mutex);
  return queue_->finished >= ticket;
}

void Stream::wait(std::uint64_t ticket) const {
  {
    std::unique_lock lock(queue_->mutex);
    queue_->changed.wait(lock, [&] { return queue_->finished >= ticket; });
  }
  queue_->memory.close_unused();
}

bool Stream::wait_for(std::uint64_t ticket, std::chrono::microseconds limit) const {
  {
    std::unique_lock lock(queue_->mutex);
    if (!queue_->changed.wait_for(lock, limit, [&] { return queue_->finished >= ticket; })) {
      return false;
    }
  }
  queue_->memory.close_unused();
  return true;
}

void Stream::Queue::work() {
  on_stream_thread() = true;
  std::unique_lock lock(mutex);
  bool using_memory = false;
  while (true) {
    changed.wait(lock, [&] { return closed || !tasks.empty(); });
    if (tasks.empty()) return;
    if (!std::exchange(using_memory, true)) memory.begin_use();
    Task task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    // Before the task counts as finished: who waits for it closes memory that is not in use.
    if (tasks.empty() && std::exchange(using_memory, false)) memory.end_use();
    ++finished;
    lock.unlock();
    changed.notify_all();
    lock.lock();
  }
}

}  // namespace fake_gpu
