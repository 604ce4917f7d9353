#include "src/run/graph_workload.hpp"

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

void GraphWorkload::prepare(const BlockPlan& plan) {
  BlockPlan launch = plan;
  launch.untimed = 0;
  calls_of_launch_ = plan.timed();
  calls_.prepare(launch);
  if (communicator_.gpu() == nullptr) throw Unsupported("this backend has no graphs");
  graph_ = communicator_.gpu()->capture([&] {
    calls_.begin();
    calls_.issue(0, calls_of_launch_);
  });
  meet_();
  graph_->launch();
  calls_.set_issued(calls_of_launch_);
  calls_.wait();
  calls_.count(calls_of_launch_);
  calls_.check_results();
  if (!calls_.changes_input()) calls_.refill();
}

void GraphWorkload::issue(std::size_t /*first*/, std::size_t /*calls*/) {
  for (std::size_t k = 0; k < launches_; ++k) graph_->launch();
  calls_.set_issued(calls_of_launch_ * launches_);
}

void GraphWorkload::verify() {
  calls_.stop_counting();
  calls_.count(calls_of_launch_ * launches_);
  if (!calls_.changes_input()) calls_.check_results();
  graph_.reset();
}

}  // namespace ccl_tests
