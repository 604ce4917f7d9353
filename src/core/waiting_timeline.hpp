// A timeline for libraries that have none of their own.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests {

// Waits for the communicator at every mark and takes the time of its clock.
class WaitingTimeline : public Timeline {
 public:
  WaitingTimeline(Communicator& communicator, std::size_t marks) : communicator_(communicator) {
    times_.reserve(marks);
  }
  void mark() override {
    communicator_.wait();
    times_.push_back(communicator_.clock().now());
  }
  std::vector<double> intervals() const override {
    std::vector<double> seconds;
    for (std::size_t k = 1; k < times_.size(); ++k) seconds.push_back(times_[k] - times_[k - 1]);
    return seconds;
  }

 private:
  Communicator& communicator_;
  std::vector<double> times_;
};

}  // namespace ccl_tests
