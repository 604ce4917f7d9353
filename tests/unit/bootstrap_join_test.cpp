#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/store_client.hpp"
#include "tests/unit/bootstrap_agent_store.hpp"
#include "tests/unit/bootstrap_jobs.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {
namespace {

using test::join_options;
using test::launch_of;
using test::Outcome;
using test::run_all;
using testing::HasSubstr;

void exchange_rounds(Control& control) {
  for (int round = 0; round < 20; ++round) {
    const std::string mine(static_cast<std::size_t>(control.process() * round),
                           static_cast<char>('a' + control.process()));
    const std::vector<std::string> all = control.all_gather(mine, 60);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(control.processes()));
    for (int p = 0; p < control.processes(); ++p) {
      EXPECT_EQ(all[static_cast<std::size_t>(p)],
                std::string(static_cast<std::size_t>(p * round), static_cast<char>('a' + p)));
    }
  }
}

std::function<void()> member(const Launch& launch, const JoinOptions& options) {
  return [=] { exchange_rounds(*join(launch, options, nullptr, nullptr)); };
}

class Join : public testing::TestWithParam<int> {};

TEST_P(Join, ExchangesAndLeavesInOrder) {
  for (const Outcome& outcome : test::run_job(GetParam(), 1, exchange_rounds)) {
    EXPECT_EQ(outcome.message, "");
  }
}

TEST_P(Join, AtThePortOfProcess0) {
  const int port = test::reserved_port();
  std::vector<std::function<void()>> all;
  for (int p = 0; p < GetParam(); ++p) {
    Launch launch = launch_of(p, GetParam(), port);
    launch.agent_store = false;
    all.push_back(member(launch, join_options()));
  }
  for (int run = 0; run < 3; ++run) {  // one after the other on the same port
    for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.message, "");
  }
}

TEST_P(Join, SeveralRunsInOneStore) {
  const test::AgentStore store;
  std::vector<std::function<void()>> all;
  for (int p = 0; p < GetParam(); ++p) {  // each goes from run to run without waiting for others
    all.emplace_back([&, p] {
      for (int run = 0; run < 5; ++run) {
        member(launch_of(p, GetParam(), store.port()), join_options())();
      }
    });
  }
  for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.message, "");
}

INSTANTIATE_TEST_SUITE_P(Processes, Join, testing::Values(1, 3, 4));

TEST(JoinOrder, Process0MayComeLast) {
  const int port = test::reserved_port();
  std::vector<std::function<void()>> all;
  for (int p = 0; p < 3; ++p) {
    Launch launch = launch_of(p, 3, port);
    launch.agent_store = false;
    all.emplace_back([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100 * (2 - p)));
      member(launch, join_options())();
    });
  }
  for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.message, "");
}

TEST(JoinOrder, AStaleAddressInTheStoreIsPassedOver) {
  const test::AgentStore store;
  const int nobody = test::reserved_port();
  StoreClient("127.0.0.1", store.port(), deadline_in(30))
      .set("ccl-tests/none/0/control", "127.0.0.1:" + std::to_string(nobody) + " old",
           deadline_in(30));
  std::vector<std::function<void()>> all;
  for (int p = 0; p < 3; ++p) {
    all.emplace_back([&, p] {
      std::this_thread::sleep_for(std::chrono::milliseconds(p == 0 ? 100 : 0));
      member(launch_of(p, 3, store.port()), join_options())();
    });
  }
  for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.message, "");
}

// mpirun kills all processes as soon as one has ended, and process 0 may still be writing the footer.
TEST(Leaving, OtherProcessesCanWaitForProcess0) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  constexpr std::chrono::milliseconds writing(200);
  const auto outcomes = test::run_job(3, 1, [&](Control& control) {
    if (control.process() == 0) std::this_thread::sleep_for(writing);
    control.wait_process_0_gone(10);
    const auto waited = steady_clock::now() - start;
    EXPECT_LT(waited, std::chrono::seconds(8)) << control.process();
    EXPECT_TRUE(control.process() == 0 || waited >= writing) << control.process();
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

// Nor may process 0 end, and with it the others, before all have written where they hang. One leaves without a report.
TEST(Leaving, Process0WaitsForTheReportsOfAll) {
  for (const int processes : {1, 3, 4}) {
    std::atomic<int> written = 0;
    const auto outcomes = test::run_job(processes, 1, [&](Control& control) {
      if (control.process() != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50 * control.process()));
        ++written;
        if (control.process() == 2) return;
      }
      control.end_report(60);
      if (control.process() == 0) {
        EXPECT_EQ(written, processes - 1);
      }
      control.wait_process_0_gone(60);
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
  }
}

TEST(JoinFailure, MissingRankIsNamedByAllWhoCame) {
  const test::AgentStore store;
  const auto outcomes = run_all({member(launch_of(0, 3, store.port()), join_options(1)),
                                 member(launch_of(2, 3, store.port()), join_options(30))});
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.message, HasSubstr("1 of 3 processes did not come within 1 s: rank 1;"));
    EXPECT_THAT(outcome.message, HasSubstr("rank 2 on "));
  }
}

TEST(JoinFailure, MissingProcess0IsNamedByItsAddress) {
  const test::AgentStore store;
  const auto outcomes = run_all({member(launch_of(1, 2, store.port()), join_options(0.2))});
  EXPECT_EQ(outcomes[0].code, 5);
  EXPECT_THAT(outcomes[0].message, HasSubstr("rank 0 did not appear at 127.0.0.1:"));
}

// Its own threads may have no CPU for so long.
TEST(JoinFailure, Process0ThatIsTooSlowForItselfIsATimeout) {
  JoinOptions options = join_options(1e-9);
  options.from_process_0 = [](const std::string& text) { return text; };
  const auto outcomes = run_all({member(launch_of(0, 3, 1), options)});
  EXPECT_EQ(outcomes[0].code, 5);
}

TEST(JoinFailure, MissingStoreIsNamedByItsAddress) {
  const int port = test::reserved_port();
  const auto outcomes = run_all({member(launch_of(0, 2, port), join_options(0.2))});
  EXPECT_EQ(outcomes[0].code, 5);
  EXPECT_THAT(outcomes[0].message, HasSubstr("127.0.0.1:" + std::to_string(port)));
}

TEST(JoinFailure, TakenPortIsNamed) {
  const auto other = test::RawSocket::listening();
  Launch launch = launch_of(0, 2, other.port());
  launch.agent_store = false;
  const auto outcomes = run_all({member(launch, join_options())});
  EXPECT_EQ(outcomes[0].code, 4);
  EXPECT_THAT(outcomes[0].message, HasSubstr(std::to_string(other.port()) + " (MASTER_PORT)"));
}

void expect_all(const std::vector<Outcome>& outcomes, int code, const std::string& text) {
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, code);
    EXPECT_THAT(outcome.message, HasSubstr(text));
  }
}

TEST(JoinFailure, SameRankTwice) {
  const test::AgentStore store;
  const int port = store.port();
  expect_all(run_all({member(launch_of(0, 3, port), join_options()),
                      member(launch_of(1, 3, port), join_options()),
                      member(launch_of(1, 3, port), join_options())}),
             4, "rank 1 exists twice: on ");
}

TEST(JoinFailure, WorldsThatDisagree) {
  const test::AgentStore store;
  const int port = store.port();
  expect_all(run_all({member(launch_of(0, 3, port), join_options()),
                      member(launch_of(1, 3, port), join_options()),
                      member(launch_of(2, 4, port), join_options())}),
             2, "WORLD_SIZE is 4, on rank 0 on ");
}

TEST(JoinFailure, WhoIsOnTheWayLearnsOfAFailureToo) {
  const test::AgentStore store;
  const int port = store.port();
  expect_all(run_all({member(launch_of(0, 3, port), join_options()),
                      [=] {
                        std::this_thread::sleep_for(std::chrono::milliseconds(300));
                        member(launch_of(1, 3, port), join_options())();
                      },
                      member(launch_of(2, 4, port), join_options())}),
             2, "WORLD_SIZE is 4, on rank 0 on ");
}

TEST(JoinFailure, VersionsThatDisagree) {
  const test::AgentStore store;
  JoinOptions newer = join_options();
  newer.version = "2.0";
  expect_all(run_all({member(launch_of(0, 3, store.port()), newer),
                      member(launch_of(1, 3, store.port()), join_options()),
                      member(launch_of(2, 3, store.port()), join_options())}),
             2, "): the version is 2.0, on rank 1 on ");
}

TEST(JoinFailure, RanksPerProcessThatDisagree) {
  const test::AgentStore store;
  expect_all(run_all({member(launch_of(0, 2, store.port()), join_options(60, 2)),
                      member(launch_of(1, 2, store.port()), join_options(60, 4))}),
             2, "the number of ranks in a process is 4, on ranks 0-1 on ");
}

TEST(JoinFailure, AbortCallsTheOthersOnce) {
  const test::AgentStore store;
  std::atomic<int> own = 0, others = 0;
  std::vector<std::function<void()>> all;
  for (int p = 0; p < 3; ++p) {
    all.emplace_back([&, p] {
      const auto control = join(
          launch_of(p, 3, store.port()), join_options(),
          [&, p](const Failure& failure) {
            EXPECT_EQ(failure.code, 7);
            EXPECT_EQ(failure.message, "wrong");
            ++(p == 1 ? own : others);
          },
          nullptr);
      control->all_gather("all are past join", 60);
      if (p == 1) {
        control->abort({7, "wrong"});
        control->abort({4, "again"});
      }
      EXPECT_EQ(control->wait_failure(60).message, "wrong");
      control->all_gather("x", 60);
    });
  }
  for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(own, 0);
  EXPECT_EQ(others, 2);
}

TEST(Alone, ExchangesWithItself) {
  const auto control = alone();
  EXPECT_THAT(control->all_gather("x", 1), testing::ElementsAre("x"));
  EXPECT_EQ(control->wait_failure(0.01).code, 0);
  control->abort({5, "slow"});
  EXPECT_EQ(control->wait_failure(0).code, 5);
  EXPECT_THROW(control->all_gather("x", 1), Timeout);
}

}  // namespace
}  // namespace ccl_tests
