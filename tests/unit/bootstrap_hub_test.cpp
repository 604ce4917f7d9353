#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/exchanges.hpp"
#include "src/bootstrap/job_check.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/store_protocol.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {
namespace {

using test::RawSocket;
using testing::HasSubstr;

const std::string key = job_key("job", "secret");

Hello hello(int process, int processes, int ranks_per_process = 1) {
  Hello h;
  h.nonce = "nonce";
  h.proof = job_proof(key, Side::process, h.nonce);
  h.version = "1.0";
  h.host = "node" + std::to_string(process);
  h.process = process;
  h.processes = processes;
  h.ranks_per_process = ranks_per_process;
  h.pid = 100 + process;
  return h;
}

// A hub of a job of two processes, the links of which the tests make by hand.
class Hub : public testing::Test {
 protected:
  void start(int processes, int ranks_per_process = 1, double heartbeat_s = 10) {
    HubOptions options;
    options.self = hello(0, processes, ranks_per_process);
    options.key = key;
    options.heartbeat_s = heartbeat_s;
    options.strangers = {0.2, 20};
    options.init_timeout_s = 30;
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    };
    hub_ = std::make_unique<ControlServer>(std::move(options));
  }

  std::unique_ptr<ControlClient> link(const Hello& self) {
    LinkOptions options;
    options.self = self;
    options.key = key;
    return std::make_unique<ControlClient>(options, "127.0.0.1", hub_->port(), deadline_in(30));
  }

  // A process that can be made to do what no Control would do.
  RawSocket raw(const Hello& self) {
    RawSocket socket = RawSocket::connected_to(hub_->port());
    socket.send(std::string(control_magic) + encode(self));
    return socket;
  }

  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<ControlServer> hub_;
};

TEST_F(Hub, ExchangesInProcessOrder) {
  start(2);
  const auto a = link(hello(0, 2)), b = link(hello(1, 2));
  a->wait_welcome(30);
  b->wait_welcome(30);
  std::thread other([&] { EXPECT_EQ(b->all_gather("two", 30)[0], "one"); });
  EXPECT_THAT(a->all_gather("one", 30), testing::ElementsAre("one", "two"));
  other.join();
}

TEST_F(Hub, NamesAProcessThatVanishes) {
  start(2);
  const auto a = link(hello(0, 2));
  RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  b.close();
  const Failure failure = a->wait_failure(30);
  EXPECT_EQ(failure.code, 4);
  EXPECT_EQ(failure.message, "rank 1 on node1 (pid 101) is gone");
  EXPECT_THROW(a->all_gather("x", 30), Error);
}

TEST_F(Hub, NamesAllRanksOfAProcessThatVanishes) {
  start(2, 4);
  const auto a = link(hello(0, 2, 4));
  RawSocket b = raw(hello(1, 2, 4));
  a->wait_welcome(30);
  b.close();
  EXPECT_EQ(a->wait_failure(30).message, "ranks 4-7 on node1 (pid 101) are gone");
}

TEST_F(Hub, NamesAProcessThatIsSilent) {
  start(2, 1, 0.02);
  LinkOptions options;
  options.self = hello(0, 2);
  options.key = key;
  options.heartbeat_s = 0.005;
  ControlClient a(options, "127.0.0.1", hub_->port(), deadline_in(30));
  const RawSocket b = raw(hello(1, 2));
  EXPECT_THAT(a.wait_failure(30).message, HasSubstr("rank 1 on node1 (pid 101) is gone"));
}

TEST_F(Hub, AProcessThatSendsNonsenseIsNamed) {
  start(2);
  const auto a = link(hello(0, 2));
  const RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  b.send(encode_frame(FrameType::contribution, "short"));
  EXPECT_THAT(a->wait_failure(30).message, HasSubstr("rank 1 on node1 (pid 101) sent nonsense"));
}

// Process 0 as far as process 1 of two can tell. `then` goes on after the welcome.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(const RawSocket&)> then)
      : listener_(RawSocket::listening()), thread_([this, then = std::move(then)] {
          const RawSocket socket = listener_.accept();
          const std::string said = socket.read(control_magic.size() + encode(hello(1, 2)).size() +
                                               nonce_bytes - hello(1, 2).nonce.size());
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

  std::unique_ptr<ControlClient> client(double heartbeat_s = 2, int silent_heartbeats = 30) const {
    LinkOptions options;
    options.self = hello(1, 2, 2);
    options.key = key;
    options.heartbeat_s = heartbeat_s;
    options.silent_heartbeats = silent_heartbeats;
    return std::make_unique<ControlClient>(options, "127.0.0.1", listener_.port(), deadline_in(30));
  }

 private:
  static constexpr std::size_t nonce_bytes = 16;
  RawSocket listener_;
  std::thread thread_;
};

TEST_F(Hub, DeathOfProcess0IsNamedByTheOthers) {
  std::promise<void> accepted;
  const FakeServer server([&](const RawSocket&) { accepted.get_future().wait(); });
  const auto client = server.client();
  accepted.set_value();
  EXPECT_EQ(client->wait_failure(30).message, "ranks 0-1 on node0 (pid 100) are gone");
}

TEST_F(Hub, SilenceOfProcess0IsATimeoutThatNamesIt) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.05, 1000);
    Failure failure;
    while (failure.code == 0) failure = client->wait_failure(0.01);  // a library has failed
    EXPECT_EQ(failure.code, 5);
    EXPECT_THAT(failure.message, HasSubstr("no sign of life from ranks 0-1 on node0 (pid 100)"));
    over.set_value();
  }
}

TEST_F(Hub, SilenceOfProcess0ForLongEndsTheJob) {
  std::promise<void> over;
  const FakeServer server([&](const RawSocket&) { over.get_future().wait(); });
  {
    const auto client = server.client(0.02, 5);
    EXPECT_THROW(client->all_gather("x", 30), Timeout);
    EXPECT_THAT(client->wait_failure(30).message,
                HasSubstr("no sign of life from ranks 0-1 on node0 (pid 100)"));
    over.set_value();
  }
}

// Codes that are none, and those of launchers: a failure is a failure.
TEST_F(Hub, AFailureNeverEndsAJobWell) {
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
      a->all_gather("x", 30);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.code()), heard);
    }
  }
  EXPECT_EQ(Error("never well", Exit::passed).code(), Exit::failed);
}

TEST_F(Hub, TextOfOtherProcessesIsPrintable) {
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

TEST_F(Hub, NumbersThatNoProcessHasAreRefused) {
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

TEST_F(Hub, LeavingWithoutAnExchangeIsNoFailure) {
  start(2);
  const auto a = link(hello(0, 2));
  auto b = link(hello(1, 2));
  a->wait_welcome(30);
  b->wait_welcome(30);
  b.reset();
  EXPECT_EQ(a->wait_failure(0.1).code, 0);
  EXPECT_THROW(a->all_gather("nobody answers", 30), Error);
  EXPECT_EQ(a->wait_failure(30).message,
            "rank 1 on node1 (pid 101) has left while others wait for it");
}

TEST_F(Hub, AbortReachesTheOthersWithCodeAndMessage) {
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3)), c = link(hello(2, 3));
  a->wait_welcome(30);
  b->abort(7, "wrong data");
  for (ControlClient* const other : {a.get(), c.get()}) {
    const Failure failure = other->wait_failure(30);
    EXPECT_EQ(failure.code, 7);
    EXPECT_EQ(failure.message, "wrong data");
  }
  try {
    c->all_gather("x", 30);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::wrong_data);
  }
  a->abort(5, "second");
  EXPECT_EQ(a->wait_failure(30).code, 7);
}

TEST_F(Hub, ExchangeTimeoutNamesTheMissing) {
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3)), c = link(hello(2, 3));
  a->wait_welcome(30);
  try {
    a->all_gather("x", 0.05);
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 on node1 (pid 101), rank 2 on node2 (pid 102)"));
  }
  EXPECT_EQ(b->wait_failure(30).code, 5);
}

TEST_F(Hub, NobodyListensWhenAllHaveCome) {
  start(1);
  const auto a = link(hello(0, 1));
  a->wait_welcome(30);
  EXPECT_THROW(link(hello(0, 1)), NoHub);
  EXPECT_EQ(a->all_gather("x", 30).size(), 1U);
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

TEST_F(Hub, WhoDiffersFromTheMostOthersIsNamedOnAllRanks) {
  start(4);
  std::vector<std::unique_ptr<ControlClient>> all;
  for (const int process : {0, 1, 3}) all.push_back(link(hello(process, 4)));
  all.push_back(link(hello(2, 5)));
  EXPECT_THAT(told(all), testing::Each("the processes do not agree: rank 2 on node2 (pid 102): "
                                       "WORLD_SIZE is 5, on rank 0 on node0 (pid 100) it is 4"));
}

TEST_F(Hub, Process0IsNamedIfItDiffersFromTheMostOthers) {
  start(3, 2);
  std::vector<std::unique_ptr<ControlClient>> all;
  all.push_back(link(hello(0, 3, 2)));
  for (const int process : {1, 2}) all.push_back(link(hello(process, 3, 4)));
  EXPECT_THAT(told(all),
              testing::Each("the processes do not agree: ranks 0-1 on node0 (pid 100): the number "
                            "of ranks in a process is 2, on ranks 4-7 on node1 (pid 101) it is 4"));
}

TEST_F(Hub, ADisagreementIsKnownBeforeAllHaveCome) {
  start(4);
  std::vector<std::unique_ptr<ControlClient>> all;
  all.push_back(link(hello(0, 4)));
  Hello newer = hello(1, 4);
  newer.version = "2.0";
  all.push_back(link(newer));
  EXPECT_THAT(told(all), testing::Each(HasSubstr("rank 1 on node1 (pid 101): the version is 2.0, "
                                                 "on rank 0 on node0 (pid 100) it is 1.0")));
}

TEST_F(Hub, WhoComesAfterAFailureLearnsOfIt) {
  start(3);
  const auto a = link(hello(0, 3));
  a->abort(5, "too late");
  try {
    link(hello(1, 3))->wait_welcome(30);
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_STREQ(error.what(), "too late");
  }
}

std::string with_length(std::uint32_t length) {
  std::string out(control_magic);
  put(out, length);
  return out + '\x01';
}

Hello of_another_job() {
  Hello h = hello(1, 2);
  h.proof = job_proof(job_key("job", "another"), Side::process, h.nonce);
  return h;
}

class Stranger : public Hub, public testing::WithParamInterface<std::string> {};

TEST_P(Stranger, IsClosedAndLoggedOnceAndTheJobGoesOn) {
  start(2);
  const auto a = link(hello(0, 2));
  for (int i = 0; i < 3; ++i) {
    const RawSocket socket = RawSocket::connected_to(hub_->port());
    socket.send(GetParam());
    const std::string heard = socket.read(control_magic.size() + frame_header_bytes + 1);
    const std::string greeting(control_magic);  // and then it was closed
    EXPECT_TRUE(heard.empty() || heard == greeting ||
                heard == greeting + encode_frame(FrameType::refused));
  }
  const auto b = link(hello(1, 2));
  a->wait_welcome(30);
  std::thread other([&] { EXPECT_EQ(b->all_gather("two", 30).size(), 2U); });
  EXPECT_EQ(a->all_gather("one", 30).size(), 2U);
  other.join();
  ASSERT_EQ(log().size(), 1U);
  EXPECT_THAT(log()[0], HasSubstr("127.0.0.1"));
}

INSTANTIATE_TEST_SUITE_P(
    Hub, Stranger,
    testing::Values("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x8f\x13\x77\x01\xfe\x20\x21\x22\x23", "",
                    "CCL", with_length(0xffffffff), with_length(5000), with_length(3) + "abc",
                    std::string(control_magic) + encode_frame(FrameType::goodbye),
                    std::string(control_magic) + encode(of_another_job())));

class Hundreds : public Hub, public testing::WithParamInterface<std::string> {};

// Of connections that say nothing, or half of it.
TEST_P(Hundreds, NeitherBlockNorExhaustTheHub) {
  start(2);
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 500; ++i) {
    sockets.push_back(RawSocket::connected_to(hub_->port()));
    sockets.back().send(GetParam());
  }
  const auto a = link(hello(0, 2)), b = link(hello(1, 2));
  a->wait_welcome(30);
  for (const RawSocket& socket : sockets) {
    socket.read(control_magic.size());  // the hub greets whoever comes in time
    EXPECT_TRUE(socket.closed_by_peer());
  }
  std::thread other([&] { EXPECT_EQ(b->all_gather("two", 30).size(), 2U); });
  EXPECT_EQ(a->all_gather("one", 30).size(), 2U);
  other.join();
  EXPECT_EQ(log().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Hub, Hundreds,
                         testing::Values("", "CCL", std::string(control_magic),
                                         std::string(control_magic) +
                                             encode(hello(1, 2)).substr(0, 20)));

TEST(ControlFrame, RefusesCountsBeyondTheEnd) {
  EXPECT_THROW(unpack("\xff\xff\xff\xff\xff\xff\xff\xff"), Error);
  EXPECT_THROW(decode_hello("x"), Error);
  const std::vector<std::string> blobs = {"", "a", std::string(1000, 'b')};
  EXPECT_EQ(unpack(pack(blobs)), blobs);
}

std::string u32(std::uint32_t n) {
  std::string out;
  put(out, n);
  return out;
}

TEST(ControlFrame, PacksEqualSizesWithoutASizeForEach) {
  const std::vector<std::string> equal(1000, "8 bytes."), empty(1000, "");
  EXPECT_EQ(pack(equal).size(), 8008U);
  EXPECT_EQ(unpack(pack(equal)), equal);
  EXPECT_EQ(pack(empty).size(), 8U);
  EXPECT_EQ(unpack(pack(empty)), empty);
  EXPECT_EQ(pack({"", "abc"}).size(), 19U);
  EXPECT_THAT(unpack(pack({})), testing::IsEmpty());
}

TEST(ControlFrame, RefusesPacksThatContradictThemselves) {
  for (const std::string& bytes :
       {std::string(), u32(1), u32(2) + u32(3) + "abcde", u32(1) + u32(3) + "abcd",
        u32(0xffffffff) + u32(0), u32(2) + u32(0xffffffff) + u32(1),
        u32(2) + u32(0xffffffff) + u32(1) + u32(3) + "abc", u32(0x40000000) + u32(0xffffffff)}) {
    EXPECT_THROW(unpack(bytes), Error);
  }
}

TEST(JobCheck, LongListsAreCut) {
  EXPECT_EQ(join_names({"a", "b"}), "a, b");
  EXPECT_THAT(join_names(std::vector<std::string>(20, "x")), testing::EndsWith("x and 4 more"));
}

}  // namespace
}  // namespace ccl_tests
