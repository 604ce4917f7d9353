// The control plane of a job of one process.
#include <condition_variable>
#include <mutex>
#include <optional>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {
namespace {

class Alone : public Control {
 public:
  int process() const override { return 0; }
  int processes() const override { return 1; }
  std::vector<std::string> local_addresses() const override { return {}; }

  std::vector<std::string> exchange(ExchangeKind /*kind*/, const Team& /*team*/,
                                    std::string_view bytes, double) override {
    const std::lock_guard lock(mutex_);
    if (failure_) throw_failure(*failure_);
    return {std::string(bytes)};
  }
  void abort(const Failure& why) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    changed_.notify_all();
  }
  Failure wait_failure(double limit_s) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return failure_.has_value(); });
    return failure_.value_or(Failure{});
  }
  bool wait_process_0_gone(double /*limit_s*/) override { return false; }
  void end_report(double /*limit_s*/) override {}
  void report_status(std::function<std::vector<RankStatus>()> /*statuses*/) override {}

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;
};

}  // namespace

std::unique_ptr<Control> alone() { return std::make_unique<Alone>(); }

}  // namespace ccl_tests
