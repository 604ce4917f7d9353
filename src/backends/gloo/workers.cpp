#include "src/backends/gloo/workers.hpp"

#include <utility>

#include "src/core/thread.hpp"

namespace ccl_tests::gloo_module {
namespace {

class Started : public Work {
 public:
  explicit Started(std::future<void> done) : done_(std::move(done)) {}
  // Its buffers must not be used after the caller has gone.
  ~Started() override {
    if (done_.valid()) done_.wait();
  }
  void wait() override { done_.get(); }

 private:
  std::future<void> done_;
};

}  // namespace

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();  // their futures fail
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<Work> Workers::start(std::function<void()> task) {
  std::packaged_task<void()> packaged(std::move(task));
  auto work = std::make_unique<Started>(packaged.get_future());
  {
    const std::lock_guard lock(mutex_);
    while (threads_.size() < threads) threads_.push_back(start_thread([this] { this->work(); }));
    tasks_.push_back(std::move(packaged));
  }
  arrived_.notify_one();
  return work;
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    std::packaged_task<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace ccl_tests::gloo_module
