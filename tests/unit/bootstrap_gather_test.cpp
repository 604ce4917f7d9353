// ControlChannel::gather, broadcast and barrier on ranks that are threads and processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "src/bootstrap/thread_ranks.hpp"
#include "tests/unit/bootstrap_jobs.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
constexpr double limit_s = 60;

std::string text_of(int rank, int round) {
  std::string text = std::to_string(rank) + ":" + std::to_string(round);
  text.resize(text.size() + static_cast<std::size_t>(rank * round), 'x');
  return text;
}

void expect_gathered(ControlChannel& channel, int round) {
  const auto found = channel.gather(text_of(channel.rank(), round), limit_s);
  std::vector<std::string> expected;
  if (channel.rank() == 0)
    for (int r = 0; r < channel.ranks(); ++r) expected.push_back(text_of(r, round));
  EXPECT_THAT(found, ElementsAreArray(expected));
}

void expect_broadcast(ControlChannel& channel, int round) {
  EXPECT_EQ(channel.broadcast(text_of(channel.rank(), round), limit_s), text_of(0, round));
}

class GatherAndBroadcast : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  void on_ranks(const std::function<void(ControlChannel&)>& body) const {
    test::on_all_ranks(std::get<0>(GetParam()), std::get<1>(GetParam()), body);
  }
};

TEST_P(GatherAndBroadcast, GiveTheBytesInRankOrderInAnyMixture) {
  on_ranks([](ControlChannel& world) {
    for (int round = 0; round < 20; ++round) {
      expect_gathered(world, round);
      if (round % 2 == 0) expect_broadcast(world, round);
      if (round % 5 == 0) {
        const auto all = world.all_gather(text_of(world.rank(), 1), limit_s);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(world.ranks()));
        EXPECT_EQ(all.back(), text_of(world.ranks() - 1, 1));
      }
    }
  });
}

// The group's rank 0 is the last rank of the job.
TEST_P(GatherAndBroadcast, WorkInGroupsWhoseRanksAreReversed) {
  on_ranks([](ControlChannel& world) {
    const auto group = world.split(world.rank() % 2, -world.rank(), limit_s);
    for (int round = 0; round < 8; ++round) {
      expect_gathered(*group, round);
      expect_broadcast(*group, round);
    }
    expect_gathered(world, 1);
  });
}

TEST_P(GatherAndBroadcast, ManyGathersOfRanksThatRunAheadLoseNothing) {
  on_ranks([](ControlChannel& world) {
    for (int round = 0; round < 200; ++round) expect_gathered(world, round % 7);
    world.barrier(limit_s);
  });
}

TEST_P(GatherAndBroadcast, NobodyPassesABarrierBeforeAllHaveCome) {
  std::atomic<int> came = 0;
  on_ranks([&](ControlChannel& world) {
    for (int round = 1; round <= 20; ++round) {
      ++came;
      world.barrier(limit_s);
      EXPECT_GE(came, round * world.ranks());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Counts, GatherAndBroadcast,
                         testing::Combine(testing::Values(1, 3, 4), testing::Values(1, 3, 4)));

// Rank 0 comes only after the others have returned.
TEST(Gather, LetsTheOtherRanksGoOn) {
  for (const auto& [threads, processes] : {std::tuple{1, 4}, {4, 1}, {2, 3}}) {
    std::atomic<int> returned = 0;
    std::promise<void> all_returned;
    std::shared_future<void> go = all_returned.get_future().share();
    test::on_all_ranks(threads, processes, [&](ControlChannel& world) {
      if (world.rank() == 0) go.wait();
      EXPECT_EQ(world.gather("x", limit_s).size(),
                world.rank() == 0 ? static_cast<std::size_t>(world.ranks()) : 0U);
      if (world.rank() != 0 && ++returned == world.ranks() - 1) all_returned.set_value();
    });
  }
}

TEST(Gather, NamesTheProcessThatDoesNotCome) {
  const auto outcomes = test::run_job(3, 1, [](Control& control) {
    ThreadRanks ranks(control, 1);
    if (control.process() != 2) ranks.rank(0).gather("x", 0.2);
    control.wait_failure(20);
    ranks.rank(0).gather("x", limit_s);
  });
  for (const test::Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.message, HasSubstr("in time: rank 2 on "));
  }
}

TEST(Gather, NamesTheThreadThatDoesNotCome) {
  const auto control = alone();
  ThreadRanks ranks(*control, 3);
  const auto outcomes = test::run_all(
      {[&] { ranks.rank(0).gather("x", 0.1); }, [&] { ranks.rank(2).gather("x", 0.1); }});
  EXPECT_EQ(outcomes[0].code, 5);
  EXPECT_THAT(outcomes[0].message, HasSubstr("rank 1 "));
  EXPECT_THROW(ranks.rank(2).gather("x", limit_s), Timeout);
}

TEST(Broadcast, NamesTheProcessThatDoesNotCome) {
  for (const int missing : {0, 2}) {
    const auto outcomes = test::run_job(3, 1, [&](Control& control) {
      ThreadRanks ranks(control, 1);
      if (control.process() == missing) control.wait_failure(20);
      ranks.rank(0).broadcast("x", 0.2);
    });
    for (const test::Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.code, 5);
      EXPECT_THAT(outcome.message, HasSubstr("in time: rank " + std::to_string(missing) + " on "));
    }
  }
}

TEST(GatherAndBroadcast, ThrowAFailureThatIsKnown) {
  test::run_job(3, 1, [](Control& control) {
    ThreadRanks ranks(control, 1);
    if (control.process() == 1) control.abort({7, "wrong data"});
    control.wait_failure(20);
    for (int i = 0; i < 2; ++i) {
      try {
        if (i == 0) ranks.rank(0).gather("x", limit_s);
        if (i == 1) ranks.rank(0).broadcast("x", limit_s);
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Exit::wrong_data);
      }
    }
  });
}

// The calls of ranks 0, 1 and 2 in turn; limits of 0 so that only the mixture can end them.
using GatherCall = std::function<void(ControlChannel&)>;
void call(ControlChannel& channel, int which) {
  if (which == 0) channel.all_gather("x", 0);
  if (which == 1) channel.gather("x", 0);
  if (which == 2) channel.broadcast("x", 0);
}
constexpr std::string_view call_names[] = {"all_gather", "gather", "broadcast"};

class DifferentCalls : public testing::TestWithParam<std::tuple<int, int>> {};

void expect_named(const std::vector<test::Outcome>& outcomes, int most, int odd) {
  for (const test::Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.message, HasSubstr("different calls at once: "));
    EXPECT_THAT(outcome.message,
                testing::ContainsRegex("rank 1[^,]* called " + std::string(call_names[odd])));
    EXPECT_THAT(outcome.message,
                testing::ContainsRegex("rank [02][^,]* called " + std::string(call_names[most])));
  }
}

TEST_P(DifferentCalls, OfProcessesAreNamed) {
  const auto [most, odd] = GetParam();
  const auto outcomes = test::run_job(3, 1, [most = most, odd = odd](Control& control) {
    ThreadRanks ranks(control, 1);
    call(ranks.rank(0), control.process() == 1 ? odd : most);
    ranks.rank(0).all_gather("x", 0);  // whoever does not wait hears of it next
  });
  if (most == odd) {
    for (const test::Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
  } else {
    expect_named(outcomes, most, odd);
  }
}

TEST_P(DifferentCalls, OfThreadsAreNamed) {
  const auto [most, odd] = GetParam();
  const auto control = alone();
  ThreadRanks ranks(*control, 3);
  std::vector<std::function<void()>> all;
  for (int t = 0; t < 3; ++t) {
    all.emplace_back([&, t, call_of = t == 1 ? odd : most] {
      call(ranks.rank(t), call_of);
      ranks.rank(t).all_gather("x", 0);
    });
  }
  const auto outcomes = test::run_all(all);
  if (most == odd) {
    for (const test::Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
  } else {
    expect_named(outcomes, most, odd);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DifferentCalls,
                         testing::Combine(testing::Range(0, 3), testing::Range(0, 3)));

}  // namespace
}  // namespace ccl_tests
