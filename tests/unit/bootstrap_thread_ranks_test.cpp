#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/bootstrap/thread_ranks.hpp"
#include "tests/unit/bootstrap_jobs.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

void exchange_rounds(ControlChannel& rank) {
  for (int round = 0; round < 50; ++round) {
    const auto all = rank.all_gather(std::to_string(rank.rank()) + ":" + std::to_string(round), 60);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(rank.ranks()));
    for (int r = 0; r < rank.ranks(); ++r) {
      EXPECT_EQ(all[static_cast<std::size_t>(r)], std::to_string(r) + ":" + std::to_string(round));
    }
  }
}

class Threads : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Threads, ExchangeInRankOrder) {
  const auto [threads, processes] = GetParam();
  const int t = threads;
  const auto outcomes = test::run_job(processes, threads, [t](Control& control) {
    ThreadRanks ranks(control, t);
    std::vector<std::function<void()>> all;
    for (int i = 0; i < t; ++i) {
      all.emplace_back([&, i] {
        EXPECT_EQ(ranks.rank(i).rank(), control.process() * t + i);
        exchange_rounds(ranks.rank(i));
      });
    }
    for (const test::Outcome& outcome : test::run_all(all)) EXPECT_EQ(outcome.message, "");
  });
  for (const test::Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

TEST_P(Threads, AbortFreesAllWhoWait) {
  const auto [threads, processes] = GetParam();
  const int t = threads;
  test::run_job(processes, threads, [t](Control& control) {
    ThreadRanks ranks(control, t);
    std::vector<std::function<void()>> all;
    for (int i = 0; i < t; ++i) {
      all.emplace_back([&, i] {
        if (control.process() == control.processes() - 1 && i == 0) ranks.abort("rank lost");
        while (true) ranks.rank(i).all_gather("x", 60);
      });
    }
    for (const test::Outcome& outcome : test::run_all(all)) {
      EXPECT_EQ(outcome.code, 4);
      EXPECT_EQ(outcome.message, "rank lost");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Counts, Threads,
                         testing::Combine(testing::Values(1, 3, 4), testing::Values(1, 3)));

TEST(ThreadRanks, ThreadThatDoesNotComeIsNamed) {
  const auto control = alone();
  ThreadRanks ranks(*control, 3);
  const auto outcomes = test::run_all(
      {[&] { ranks.rank(0).all_gather("x", 0.1); }, [&] { ranks.rank(2).all_gather("x", 0.1); }});
  for (const test::Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.message, HasSubstr("rank 1 "));
  }
  EXPECT_THROW(ranks.rank(1).all_gather("x", 60), Timeout);
}

TEST(ThreadRanks, CodeOfTheControlPlaneIsKept) {
  const auto control = alone();
  ThreadRanks ranks(*control, 1);
  control->abort({7, "wrong data"});
  try {
    ranks.rank(0).all_gather("x", 60);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::wrong_data);
  }
}

}  // namespace
}  // namespace ccl_tests
