// What happens when processes join: other jobs, strangers, twins, stores that are stale or die, names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/bootstrap/wait_notice.hpp"
#include "tests/unit/bootstrap_agent_store.hpp"
#include "tests/unit/bootstrap_jobs.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {
namespace {

using test::join_options;
using test::launch_of;
using test::Outcome;
using test::RawSocket;
using test::reserved_port;
using test::run_all;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* key = "ccl-tests/none/0/control";

Launch at_process_0(int process, int processes, int port) {
  Launch launch = launch_of(process, processes, port);
  launch.agent_store = false;
  return launch;
}

std::function<void()> member(const Launch& launch, double init_timeout_s = 60,
                             const std::function<void(Control&)>& body = nullptr) {
  return [=] {
    const auto control = join(launch, join_options(init_timeout_s), nullptr, nullptr);
    EXPECT_EQ(control->all_gather("all", 60).size(), static_cast<std::size_t>(launch.processes));
    if (body) body(*control);
    control->all_gather("the end", 60);
  };
}

void wait_until_somebody_listens(int port) {
  while (true) {
    try {
      RawSocket::connected_to(port);
      return;
    } catch (const std::runtime_error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

void expect_good(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

TEST(TwoJobsOnOnePort, TheSecondIsRefusedWhileTheFirstMeets) {
  const int port = reserved_port();
  std::promise<void> first_is_there, second_is_over;
  const auto first = [&](int p) {
    return [&, p] {
      if (p == 2) second_is_over.get_future().wait();
      member(at_process_0(p, 3, port))();
    };
  };
  const auto outcomes =
      run_all({[&] { first(0)(); },
               [&, port] {
                 wait_until_somebody_listens(port);
                 first_is_there.set_value();
                 first(1)();
               },
               first(2),
               [&] {
                 first_is_there.get_future().wait();
                 const auto second = run_all({member(at_process_0(0, 3, port))});
                 second_is_over.set_value();
                 EXPECT_EQ(second[0].code, 4);
                 EXPECT_THAT(second[0].message,
                             HasSubstr("rank 0 cannot listen on port " + std::to_string(port)));
               }});
  expect_good(outcomes);
}

// Its other ranks are taken for the first job's: both jobs end, and each rank knows why.
TEST(TwoJobsOnOnePort, RanksThatMeetTheOtherJobEndIt) {
  const int port = reserved_port();
  const auto outcomes =
      run_all({member(at_process_0(0, 3, port)), member(at_process_0(1, 3, port)), [&] {
                 wait_until_somebody_listens(port);
                 member(at_process_0(1, 3, port))();
               }});
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.message, HasSubstr("rank 1 exists twice: on "));
    EXPECT_THAT(outcome.message, HasSubstr("two jobs on one MASTER_PORT"));
  }
}

TEST(TwoJobsOnOnePort, OneAfterTheOtherHasMetDoNotMeet) {
  const int port = reserved_port();
  const auto second = [&](Control& control) {  // while the first goes on
    if (control.process() != 0) return;
    expect_good(run_all({member(at_process_0(0, 3, port)), member(at_process_0(1, 3, port)),
                         member(at_process_0(2, 3, port))}));
  };
  expect_good(run_all({member(at_process_0(0, 4, port), 60, second),
                       member(at_process_0(1, 4, port), 60, second),
                       member(at_process_0(2, 4, port), 60, second),
                       member(at_process_0(3, 4, port), 60, second)}));
}

TEST(Twin, ThatComesWhenAllHaveComeEndsInItsTimeAndHurtsNobody) {
  for (const bool agent_store : {false, true}) {
    const test::AgentStore agent;
    const int port = agent_store ? agent.port() : reserved_port();
    const auto launch = [&](int p) {
      return agent_store ? launch_of(p, 3, port) : at_process_0(p, 3, port);
    };
    const auto twin = [&](Control& control) {
      if (control.process() != 1) return;
      const auto outcome = run_all({member(launch(1), 0.3)})[0];
      EXPECT_EQ(outcome.code, 5);
      EXPECT_THAT(outcome.message,
                  HasSubstr("rank 0 did not appear at 127.0.0.1:" + std::to_string(port)));
    };
    expect_good(run_all(
        {member(launch(0), 60, twin), member(launch(1), 60, twin), member(launch(2), 60, twin)}));
  }
}

TEST(Store, ThatIsStaleAndWhoseJobIsOverIsNamedAtTheDeadline) {
  const RawSocket other_program = RawSocket::listening();
  for (const int port : {other_program.port(), reserved_port()}) {
    const test::AgentStore store;
    StoreClient("127.0.0.1", store.port(), deadline_in(30))
        .set(key, "127.0.0.1:" + std::to_string(port) + " old", deadline_in(30));
    const auto outcomes = run_all(
        {member(launch_of(1, 3, store.port()), 0.3), member(launch_of(2, 3, store.port()), 0.3)});
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.code, 5);
      EXPECT_THAT(outcome.message, HasSubstr("its control port 127.0.0.1:" + std::to_string(port)));
    }
  }
}

TEST(Store, IsNotNeededWhenAllHaveCome) {
  for (const int processes : {3, 4}) {
    auto store = std::make_unique<test::AgentStore>();
    std::vector<std::function<void()>> all;
    for (int p = 0; p < processes; ++p) {
      all.push_back(member(launch_of(p, processes, store->port()), 60, [&store](Control& control) {
        if (control.process() == 1) store.reset();
        for (int i = 0; i < 3; ++i) control.all_gather("goes on", 60);
      }));
    }
    expect_good(run_all(all));
  }
}

// The test is process 1, and takes the store away when it has read the address from it.
TEST(Store, MayDieWhenAllHaveReadTheAddress) {
  auto store = std::make_unique<test::AgentStore>();
  std::vector<std::string> log;
  auto process_0 = std::async(std::launch::async, [&log, port = store->port()] {
    const auto control = join(launch_of(0, 2, port), join_options(), nullptr,
                              [&](std::string_view line) { log.emplace_back(line); });
    return control->all_gather("0", 60);
  });
  const std::string address = StoreClient("127.0.0.1", store->port(), deadline_in(60))
                                  .get(key, deadline_in(60));  // "host:port token"
  const std::size_t colon = address.find(':'), space = address.find(' ');
  store.reset();
  LinkOptions options;
  options.key = job_key(address.substr(space + 1), "");
  options.self.version = "1.0";
  options.self.process = 1;
  options.self.processes = 2;
  auto link = std::make_unique<ControlClient>(
      options, address.substr(0, colon), std::stoi(address.substr(colon + 1)), deadline_in(60));
  link->wait_welcome(60);
  link->exchange(ExchangeKind::all_gather, {}, {}, 60);
  EXPECT_THAT(link->exchange(ExchangeKind::all_gather, {}, "1", 60),
              testing::ElementsAre("0", "1"));
  link.reset();
  EXPECT_THAT(process_0.get(), testing::ElementsAre("0", "1"));
  ASSERT_EQ(log.size(), 1U);
  EXPECT_THAT(log[0], HasSubstr("after all ranks have met: the store at 127.0.0.1:"));
}

TEST(Store, ThatDiesBeforeAllHaveMetIsATimeoutOnEveryRank) {
  auto store = std::make_unique<test::AgentStore>();
  const int port = store->port();
  std::promise<void> dead;
  const auto outcomes =
      run_all({member(launch_of(0, 3, port), 1), member(launch_of(1, 3, port), 2), [&] {
                 StoreClient("127.0.0.1", port, deadline_in(60)).get(key, deadline_in(60));
                 store.reset();
                 member(launch_of(2, 3, port), 0.3)();
               }});
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcomes[0].message, HasSubstr("did not come within 1 s: rank"));
  EXPECT_THAT(outcomes[2].message, HasSubstr("rank 0 did not appear at 127.0.0.1:"));
}

TEST(Strangers, HundredsAtTheMasterPortDoNotKeepAJobFromStarting) {
  for (const int processes : {3, 4}) {
    const RawSocket listener = RawSocket::listening();
    std::vector<RawSocket> sockets;
    for (int i = 0; i < 400; ++i) {
      sockets.push_back(RawSocket::connected_to(listener.port()));
      if (i % 4 == 1) sockets.back().send("CCL");
      if (i % 4 == 2) sockets.back().send(control_magic);
      if (i % 4 == 3) sockets.back().send("GET / HTTP/1.1\r\n\r\n");
    }
    std::vector<std::function<void()>> all;
    for (int p = 0; p < processes; ++p) {
      Launch launch = at_process_0(p, processes, listener.port());
      if (p == 0) launch.listener = ::dup(listener.descriptor());
      all.push_back(member(launch));
    }
    expect_good(run_all(all));
  }
}

Launch with_secret(Launch launch, const std::string& secret) {
  launch.secret = secret;
  return launch;
}

TEST(Secret, KeepsOutWhoDoesNotKnowIt) {
  const int port = reserved_port();
  const auto outcomes =
      run_all({member(with_secret(at_process_0(0, 3, port), "good")),
               member(with_secret(at_process_0(1, 3, port), "good")), [=] {
                 wait_until_somebody_listens(port);
                 const auto stranger =
                     run_all({member(with_secret(at_process_0(2, 3, port), "bad"), 0.3),
                              member(at_process_0(2, 3, port), 0.3)});
                 for (const Outcome& outcome : stranger) {
                   EXPECT_EQ(outcome.code, 5);
                   EXPECT_THAT(outcome.message, HasSubstr("another job listens there, or "
                                                          "CCL_JOB_SECRET differs"));
                   EXPECT_THAT(outcome.message, testing::Not(HasSubstr("good")));
                 }
                 member(with_secret(at_process_0(2, 3, port), "good"))();
               }});
  expect_good(outcomes);
}

TEST(Secret, AnotherJobOfTheLauncherIsNotTakenForThisOne) {
  const int port = reserved_port();
  Launch other = at_process_0(1, 3, port);
  other.job = "another";
  expect_good(run_all({member(at_process_0(0, 3, port)), member(at_process_0(1, 3, port)), [=] {
                         wait_until_somebody_listens(port);
                         EXPECT_EQ(run_all({member(other, 0.3)})[0].code, 5);
                         member(at_process_0(2, 3, port))();
                       }}));
}

// A server without the secret that accepts everybody and then tells them to end well.
TEST(Secret, AServerThatDoesNotKnowItIsNotBelieved) {
  const RawSocket listener = RawSocket::listening();
  std::thread server([&] {
    const RawSocket socket = listener.accept();
    Hello hello;
    hello.processes = 2;
    hello.proof = job_proof(job_key("", "guessed"), Side::server, "nonce");
    socket.send(std::string(control_magic) + encode(hello, FrameType::accepted) +
                encode_frame(FrameType::welcome) + encode(Failure{0, "fine"}));
    socket.read(1000);
  });
  const auto outcome =
      run_all({member(with_secret(at_process_0(1, 2, listener.port()), "good"), 0.5)})[0];
  listener.shutdown();
  server.join();
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.message, HasSubstr("rank 0 did not appear at "));
}

Launch by_hand(int process, int processes, int port) {
  Launch launch = at_process_0(process, processes, port);
  launch.size_name = "WORLD_SIZE";
  return launch;
}

TEST(Refusal, EndsAllWhoWaitHoweverEarlyOrLateTheyCome) {
  for (const int refuses : {0, 1, 2}) {
    const int port = reserved_port();
    std::vector<std::function<void()>> all;
    for (int p = 0; p < 3; ++p) {
      if (p == refuses)
        all.emplace_back([=] { decline(by_hand(p, 3, port), {3, "no such module"}); });
      else
        all.emplace_back([=] {
          std::this_thread::sleep_for(std::chrono::milliseconds(150 * p));
          member(by_hand(p, 3, port))();
        });
    }
    const auto outcomes = run_all(all);
    for (int p = 0; p < 3; ++p) {
      const Outcome& outcome = outcomes[static_cast<std::size_t>(p)];
      EXPECT_EQ(outcome.code, p == refuses ? 0 : 3) << refuses << ' ' << p;
      if (p == refuses) continue;
      EXPECT_THAT(outcome.message, HasSubstr("rank " + std::to_string(refuses) + " on "));
      EXPECT_THAT(outcome.message, HasSubstr("cannot take part: no such module"));
    }
  }
}

TEST(Refusal, OfAllIsNotWaitedFor) {
  const int port = reserved_port();
  const auto before = std::chrono::steady_clock::now();
  std::vector<std::function<void()>> all;
  for (int p = 0; p < 3; ++p)
    all.emplace_back([=] { decline(by_hand(p, 3, port), {2, "unknown option"}, 60); });
  expect_good(run_all(all));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(60));
}

TEST(Refusal, WithoutOthersOrWithALauncherThatEndsThemTellsNobody) {
  decline(Launch{}, {2, "alone"}, 60);
  Launch by_mpirun;
  by_mpirun.processes = 3;
  by_mpirun.mpi_module = "mpi-openmpi";
  decline(by_mpirun, {2, "mpirun ends all"}, 60);
}

TEST(WaitNotice, IsRepeatedUntilTheWaitIsOver) {
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return lines.size();
  };
  {
    WaitNotice notice(
        [&](std::string_view line) {
          const std::lock_guard lock(mutex);
          lines.emplace_back(line);
        },
        0.01, 0.01);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(count(), 0U);
    notice.set(std::string("rank 1"));
    while (count() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(lines.front(), "waits for rank 1");
  const std::size_t all = lines.size();
  WaitNotice never([&](std::string_view) { ADD_FAILURE(); });
  never.set(std::string("what comes at once"));
  EXPECT_EQ(lines.size(), all);
}

TEST(MasterAddress, MayBeUnknownUntilItsPodIsThere) {
  Launch launch = at_process_0(1, 3, reserved_port());
  launch.master_host = "no-such-host.invalid";
  launch.names_come_late = true;
  const auto outcome = run_all({member(launch, 0.5)})[0];
  EXPECT_EQ(outcome.code, 5);
}

TEST(MasterAddress, ThatDoesNotResolveIsNamedByEveryRank) {
  const int port = reserved_port();
  std::vector<std::function<void()>> all;
  for (int p = 0; p < 3; ++p) {
    Launch launch = at_process_0(p, 3, port);
    launch.master_host = "no-such-host.invalid";
    all.push_back(member(launch));
  }
  for (const Outcome& outcome : run_all(all)) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.message, HasSubstr("there is no such name as 'no-such-host.invalid'"));
  }
}

// Of nobody: RFC 5737.
constexpr const char* elsewhere = "198.51.100.7";

TEST(MasterAddress, OfAnotherHostEndsRank0WithItsName) {
  Launch launch = at_process_0(0, 3, reserved_port());
  launch.master_host = elsewhere;
  launch.host_name = "SLURM_STEP_NODELIST";
  const Outcome outcome = run_all({member(launch)})[0];
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("(SLURM_STEP_NODELIST and MASTER_PORT)"),
                                     HasSubstr("198.51.100.7 is no address of this host"),
                                     HasSubstr("set MASTER_ADDR")));
}

// That of a Service may lead to rank 0 only when its pod is ready.
TEST(MasterAddress, OfAnotherHostIsWaitedForOnKubernetes) {
  Launch launch = at_process_0(0, 3, reserved_port());
  launch.master_host = elsewhere;
  launch.names_come_late = true;
  const Outcome outcome = run_all({member(launch, 4)})[0];
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.message, HasSubstr("no address of this host"));
}

// A router leads the others to rank 0, which does not reach itself through it.
TEST(MasterAddress, OfAnotherHostThatOthersReachIsGoodEnough) {
  const int port = reserved_port();
  Launch first = at_process_0(0, 3, port);
  first.master_host = elsewhere;
  expect_good(
      run_all({member(first), member(at_process_0(1, 3, port)), member(at_process_0(2, 3, port))}));
}

TEST(MasterAddress, OfThisHostIsSuspectedByOtherRanks) {
  const Outcome outcome = run_all({member(at_process_0(1, 3, reserved_port()), 0.5)})[0];
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.message, HasSubstr("127.0.0.1 is this host itself: if rank 0 is on another"));
}

}  // namespace
}  // namespace ccl_tests
