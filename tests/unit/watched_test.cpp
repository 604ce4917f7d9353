// What a rank is said to do while it calls a library by itself.
#include "src/job/watched.hpp"
#include "src/core/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

// Writes down what the rank is said to do while it is inside.
class Spy : public Communicator {
 public:
  Spy(const Activity& activity, std::vector<RankStatus>& inside, double& limit_s)
      : activity_(activity), inside_(inside), limit_s_(limit_s) {}
  void all_reduce(const Call& /*call*/) override { look(); }
  void broadcast(const Call& /*call*/) override { look(); }
  void all_gatherv(const Call& /*call*/) override { throw Error("the library fails"); }
  void transfer(std::span<Message> /*messages*/, Deadline& /*deadline*/) override { look(); }
  void wait() override { look(); }

 private:
  void look() {
    inside_.push_back(activity_.status(0));
    limit_s_ = activity_.limit_s();
    EXPECT_GT(limit_s_, 60);
  }
  const Activity& activity_;
  std::vector<RankStatus>& inside_;
  double& limit_s_;
};

class SpyBackend : public Backend {
 public:
  SpyBackend(const Activity& activity, std::vector<RankStatus>& inside, double& limit_s)
      : activity_(activity), inside_(inside), limit_s_(limit_s) {}
  BackendInfo info() const override { return {.name = "spy"}; }
  std::unique_ptr<Communicator> connect(ControlChannel& /*channel*/,
                                        const BackendOptions& /*options*/) const override {
    return std::make_unique<Spy>(activity_, inside_, limit_s_);
  }

 private:
  const Activity& activity_;
  std::vector<RankStatus>& inside_;
  double& limit_s_;
};

class Watched : public testing::Test {
 protected:
  class NoChannel : public ControlChannel {
   public:
    int rank() const override { return 0; }
    int ranks() const override { return 3; }
    std::vector<std::string> all_gather(std::string_view, double) override { return {}; }
    std::vector<std::string> gather(std::string_view, double) override { return {}; }
    std::string broadcast(std::string_view, double) override { return {}; }
    std::unique_ptr<ControlChannel> split(int, int, double) override { return nullptr; }
  };

  Call call() {
    Call c;
    c.send = c.recv = data_.data();
    c.count = data_.size();
    c.type = DataType::float32;
    c.self = {0, 3};
    c.root = 2;
    return c;
  }

  Activity activity_;
  std::vector<RankStatus> inside_;
  double limit_s_ = 0;  // of the last call
  SpyBackend spy_{activity_, inside_, limit_s_};
  std::unique_ptr<Backend> backend_ = watch_calls(spy_, activity_, "elsewhere");
  NoChannel channel_;
  std::unique_ptr<Communicator> library_ = backend_->connect(channel_, {});
  std::array<float, 4> data_{};
};

TEST_F(Watched, EachCallIsNamedWhileItLasts) {
  activity_.phase("elsewhere");
  library_->all_reduce(call());
  ASSERT_EQ(inside_.size(), 1U);
  EXPECT_EQ(inside_[0].text, "call 1, all_reduce float sum, 16 B");
  EXPECT_EQ(inside_[0].position, 1U);
  EXPECT_EQ(activity_.text(), "elsewhere, after call 1");
  EXPECT_EQ(activity_.limit_s(), 0);
  library_->wait();
  EXPECT_EQ(inside_.at(1).text, "call 1, all_reduce float sum, 16 B");
  library_->broadcast(call());
  EXPECT_EQ(inside_.at(2).text, "call 2, broadcast float, 16 B, root 2");
  std::array messages = {Message::to(1, std::as_bytes(std::span(data_)))};
  Deadline deadline = library_->deadline(16);
  library_->transfer(messages, deadline);
  EXPECT_EQ(inside_.at(3).text, "call 3, messages");
  EXPECT_EQ(activity_.text(), "elsewhere, after call 3");
}

TEST_F(Watched, StartedOperationsAreNamedUntilTheyAreWaitedFor) {
  const auto first = library_->start_all_reduce(call());
  const auto second = library_->start_broadcast(call());
  EXPECT_EQ(activity_.text(), "elsewhere, after call 2");
  inside_.clear();
  second->wait();
  first->wait();
  ASSERT_GE(inside_.size(), 2U);
  EXPECT_EQ(inside_.front().text, "call 2, broadcast float, 16 B, root 2");
  EXPECT_EQ(inside_.back().text, "call 1, all_reduce float sum, 16 B");
}

// 24 MB are 72 s for 3 ranks, whatever was waited for before.
TEST_F(Watched, WhatWasWaitedForDoesNotRaiseLaterLimits) {
  std::vector<float> large(3'000'000);
  Call c = call();
  c.send = c.recv = large.data();
  c.count = large.size();
  for (int step = 0; step < 3; ++step) {
    const auto first = library_->start_all_reduce(c);
    EXPECT_NEAR(limit_s_, 60 + 72 + 5, 0.1);
    const auto second = library_->start_all_reduce(c);
    EXPECT_NEAR(limit_s_, 60 + 2 * 72 + 5, 0.1);
    first->wait();
    second->wait();
  }
}

// The message about it says where that was.
TEST_F(Watched, WhatThrowsIsStillNamed) {
  const std::array<std::size_t, 3> counts = {4, 0, 0}, offsets = {0, 4, 4};
  Call c = call();
  c.recv_counts = counts;
  c.recv_offsets = offsets;
  EXPECT_THROW(library_->all_gatherv(c), Error);
  EXPECT_EQ(activity_.text(), "call 1, all_gatherv float");
}

TEST_F(Watched, WithoutALimitNothingIsExpected) {
  library_->set_time_limit(0);
  EXPECT_EQ(library_->deadline(1).limit_s(), 0);
  EXPECT_EQ(backend_->info().name, "spy");
}

}  // namespace
}  // namespace ccl_tests
