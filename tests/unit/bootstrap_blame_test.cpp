// Whom the control plane names: a process 0 that dies or is silent, and processes that differ; with
// codes and texts that are fit for users.
#include <functional>
#include <future>
#include <thread>
#include <tuple>
#include <utility>

#include "src/core/error.hpp"
#include "tests/unit/bootstrap_server.hpp"

namespace ccl_tests {
namespace {

using test::RawSocket;
using testing::ElementsAre;
using testing::HasSubstr;

// Process 0 as far as process 1 of two can tell. `then` goes on after the welcome.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(const RawSocket&)> then)
      : listener_(RawSocket::listening()), thread_([this, then = std::move(then)] {
          const RawSocket socket = listener_.accept();
          Hello as_long = hello(1, 2);
          as_long.nonce.assign(nonce_digits, '0');
          const std::string said = socket.read(control_magic.size() + encode(as_long).size());
          const Hello theirs = decode_hello(
              std::string_view(said).substr(control_magic.size() + frame_header_bytes));
          Hello own = hello(0, 2, 2);
          own.proof = job_proof(key, Side::server, theirs.nonce);
          socket.send(std::string(control_magic) + encode(own, FrameType::accepted) +
                      encode_frame(FrameType::welcome));
          then(socket);
        }) {}
  ~FakeServer() { thread_.join(); }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::unique_ptr<ControlClient> client(double heartbeat_s = 2, int silent_heartbeats = 30,
                                        int stopped_heartbeats = 30) const {
    LinkOptions options;
    options.self = hello(1, 2, 2);
    options.key = key;
    options.heartbeat_s = heartbeat_s;
    options.silent_heartbeats = silent_heartbeats;
    options.stopped_heartbeats = stopped_heartbeats;
    return std::make_unique<ControlClient>(options, "127.0.0.1", listener_.port(), deadline_in(30));
  }

 private:
  static constexpr std::size_t nonce_digits = 32;
  RawSocket listener_;
  std::thread thread_;
};

TEST_F(ServerTest, DeathOfProcess0IsNamedByTheOthers) {
  std::promise<void> accepted;
  const FakeServer server([&](const RawSocket&) { accepted.get_future().wait(); });
  const auto client = server.client();
  accepted.set_value();
  const Failure failure = client->wait_failure(30);
  EXPECT_EQ(failure.message, "ranks 0-1 on node0 (pid 100) are gone");
  EXPECT_THAT(failure.gone, ElementsAre(0, 1));
}

TEST_F(ServerTest, SilenceOfProcess0IsATimeoutThatNamesIt) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.05, 1000);
    Failure failure;
    while (failure.code == 0) failure = client->wait_failure(0.01);  // a library has failed
    EXPECT_EQ(failure.code, 5);
    EXPECT_THAT(failure.message, HasSubstr("no sign of life from ranks 0-1 on node0 (pid 100)"));
    EXPECT_THAT(failure.gone, ElementsAre(0, 1));
    over.set_value();
  }
}

// Who waits in another call than the others is the one to look at.
TEST_F(ServerTest, AWaitThatReachedItsLimitSaysWhereAllRanksAre) {
  start(3);
  const auto first = link(hello(0, 3)), second = link(hello(1, 3));
  LinkOptions options;
  options.self = hello(2, 3);
  options.key = key;
  options.heartbeat_s = 0.02;
  ControlClient third(options, "127.0.0.1", server_->port(), deadline_in(30));
  std::promise<void> asked;
  bool told = false;
  third.report_status([&] {
    if (!std::exchange(told, true)) asked.set_value();
    return std::vector<RankStatus>{{2, 4, "all_gather, timed calls"}};
  });
  asked.get_future().wait();
  // What the third one sends now comes behind what it has told.
  std::thread others[] = {std::thread([&] { all_gather(*first, "", 30); }),
                          std::thread([&] { all_gather(*second, "", 30); })};
  all_gather(third, "", 30);
  for (std::thread& other : others) other.join();
  first->report_status([] { return std::vector<RankStatus>{{0, 7, "all_reduce, timed calls"}}; });
  first->abort({exit_code(Exit::timed_out), "rank 0: too long"});
  EXPECT_EQ(second->wait_failure(30).message,
            "rank 0: too long; last heard of: rank 0 inside all_reduce, timed calls; "
            "rank 2 in all_gather, timed calls, outside the library");
  third.report_status({});
}

// Process 0 is stopped between two calls: the exchange's own limit may be that of many calls.
TEST_F(ServerTest, AnExchangeDoesNotWaitForASilentProcess0) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.02, 1'000'000, 5);
    EXPECT_THROW(all_gather(*client, "x", 1e6), Timeout);
    over.set_value();
  }
}

TEST_F(ServerTest, ACallDoesNotWaitForASilentProcess0) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.02, 1'000'000, 5);
    client->report_status([] { return std::vector<RankStatus>{{1, 1, "all_reduce, first call"}}; });
    EXPECT_EQ(client->wait_failure(30).code, 5);
    client->report_status({});
    over.set_value();
  }
}

TEST_F(ServerTest, SilenceOfProcess0ForLongEndsTheJob) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.02, 5);
    EXPECT_THROW(all_gather(*client, "x", 30), Timeout);
    EXPECT_THAT(client->wait_failure(30).message,
                HasSubstr("no sign of life from ranks 0-1 on node0 (pid 100)"));
    over.set_value();
  }
}

// Codes that are none, and those of launchers: a failure is a failure.
TEST_F(ServerTest, AFailureNeverEndsAJobWell) {
  for (const auto& [said, heard] : {std::pair{0, 4},
                                    {1, 4},
                                    {256, 4},
                                    {-1, 4},
                                    {9, 4},
                                    {128, 4},
                                    {160, 4},
                                    {2, 2},
                                    {8, 8},
                                    {129, 129},
                                    {159, 159}}) {
    start(2);
    const auto a = link(hello(0, 2));
    const RawSocket b = raw(hello(1, 2));
    a->wait_welcome(30);
    b.send(encode(Failure{said, "fine"}));
    EXPECT_EQ(a->wait_failure(30).code, heard);
    try {
      all_gather(*a, "x", 30);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.code()), heard);
    }
  }
  EXPECT_EQ(Error("never well", Exit::passed).code(), Exit::failed);
}

TEST_F(ServerTest, TextOfOtherProcessesIsPrintable) {
  start(2);
  const auto a = link(hello(0, 2));
  Hello evil = hello(1, 2);
  evil.host = "evil\n\x1b[31mroot\xc2\x9b";
  RawSocket b = raw(evil);
  a->wait_welcome(30);
  b.close();
  EXPECT_EQ(a->wait_failure(30).message, "rank 1 on evil??[31mroot\xc2? (pid 101) is gone");
  EXPECT_EQ(decode_failure(std::string_view(encode(Failure{4, "a\nb\x7f"})).substr(5)).message,
            "a?b?");
}

TEST_F(ServerTest, NumbersThatNoProcessHasAreRefused) {
  for (const auto& [process, processes, ranks_per_process] : {std::tuple{-1, 2, 1},
                                                              {2, 2, 1},
                                                              {0, 0, 1},
                                                              {0, 2, 0},
                                                              {1, 2, 2147483647},
                                                              {65535, 65536, 65536}}) {
    const std::string frame = encode(hello(process, processes, ranks_per_process));
    EXPECT_THROW(decode_hello(std::string_view(frame).substr(frame_header_bytes)), Error);
  }
}

std::vector<std::string> told(const std::vector<std::unique_ptr<ControlClient>>& all) {
  std::vector<std::string> messages;
  for (const auto& client : all) {
    const Failure failure = client->wait_failure(30);
    EXPECT_EQ(failure.code, 2);
    messages.push_back(failure.message);
  }
  return messages;
}

// Processes of a job that do not agree. The last one completes the job: it hears what is wrong
// from the constructor or after it, whichever of two messages its own thread reads first.
class DisagreeingJob {
 public:
  explicit DisagreeingJob(std::function<std::unique_ptr<ControlClient>(const Hello&)> link)
      : link_(std::move(link)) {}

  void joins(const Hello& self) { all_.push_back(link_(self)); }

  std::vector<std::string> told_when_last_joins(const Hello& self) {
    std::string last;
    try {
      all_.push_back(link_(self));
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.code()), 2);
      last = error.what();
    }
    std::vector<std::string> messages = told(all_);
    if (!last.empty()) messages.push_back(last);
    return messages;
  }

 private:
  std::function<std::unique_ptr<ControlClient>(const Hello&)> link_;
  std::vector<std::unique_ptr<ControlClient>> all_;
};

TEST_F(ServerTest, WhoDiffersFromTheMostOthersIsNamedOnAllRanks) {
  start(4);
  DisagreeingJob job([this](const Hello& self) { return link(self); });
  for (const int process : {0, 1, 3}) job.joins(hello(process, 4));
  EXPECT_THAT(job.told_when_last_joins(hello(2, 5)),
              testing::AllOf(testing::SizeIs(4),
                             testing::Each("the processes do not agree: rank 2 on node2 (pid 102): "
                                           "WORLD_SIZE is 5, on rank 0 on node0 (pid 100) it is "
                                           "4")));
}

TEST_F(ServerTest, Process0IsNamedIfItDiffersFromTheMostOthers) {
  start(3, 2);
  DisagreeingJob job([this](const Hello& self) { return link(self); });
  job.joins(hello(0, 3, 2));
  job.joins(hello(1, 3, 4));
  EXPECT_THAT(job.told_when_last_joins(hello(2, 3, 4)),
              testing::AllOf(testing::SizeIs(3),
                             testing::Each("the processes do not agree: ranks 0-1 on node0 (pid "
                                           "100): the number of ranks in a process is 2, on ranks "
                                           "4-7 on node1 (pid 101) it is 4")));
}

TEST_F(ServerTest, ADisagreementIsKnownBeforeAllHaveCome) {
  start(4);
  std::vector<std::unique_ptr<ControlClient>> all;
  all.push_back(link(hello(0, 4)));
  Hello newer = hello(1, 4);
  newer.version = "2.0";
  all.push_back(link(newer));
  EXPECT_THAT(told(all), testing::Each(HasSubstr("rank 1 on node1 (pid 101): the version is 2.0, "
                                                 "on rank 0 on node0 (pid 100) it is 1.0")));
}

}  // namespace
}  // namespace ccl_tests
