// Threads that carry out operations beside the rank's own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/core/communicator.hpp"

namespace ccl_tests::gloo_module {

// Takes tasks in the order in which they were started, several at a time. All ranks start the same
// operations in the same order, so the oldest unfinished one is under way on every rank and none
// can wait for one that has no thread. The threads begin with the first task.
class Workers {
 public:
  static constexpr std::size_t threads = 4;

  Workers() = default;
  // Waits for the tasks that were taken; those that were not are dropped.
  ~Workers();

  std::unique_ptr<Work> start(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ccl_tests::gloo_module
