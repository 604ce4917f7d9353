#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/exchanges.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_server.hpp"

namespace ccl_tests {
namespace {

using test::RawSocket;
using testing::HasSubstr;

TEST_F(ServerTest, ExchangesInProcessOrder) {
  start(2);
  const auto a = link(hello(0, 2)), b = link(hello(1, 2));
  a->wait_welcome(30);
  b->wait_welcome(30);
  std::thread other([&] { EXPECT_EQ(all_gather(*b, "two", 30)[0], "one"); });
  EXPECT_THAT(all_gather(*a, "one", 30), testing::ElementsAre("one", "two"));
  other.join();
}

TEST_F(ServerTest, ConnectionsWithinAHostTellNothingOfItsNetworks) {
  start(2);
  const auto a = link(hello(0, 2)), b = link(hello(1, 2));
  b->wait_welcome(30);
  EXPECT_THAT(server_->attendance.local_addresses(), testing::IsEmpty());
  EXPECT_THAT(b->local_addresses(), testing::IsEmpty());
}

TEST_F(ServerTest, NamesAProcessThatVanishes) {
  start(2);
  const auto a = link(hello(0, 2));
  RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  b.close();
  const Failure failure = a->wait_failure(30);
  EXPECT_EQ(failure.code, 4);
  EXPECT_EQ(failure.message, "rank 1 on node1 (pid 101) is gone");
  EXPECT_THAT(failure.gone, testing::ElementsAre(1));
  EXPECT_THAT(failure.gone_hosts, testing::ElementsAre("node1"));
  EXPECT_THROW(all_gather(*a, "x", 30), Error);
}

TEST_F(ServerTest, NamesAProcessThatVanishesBeforeAllHaveCome) {
  start(3);
  const auto a = link(hello(0, 3));
  RawSocket b = raw(hello(1, 3));
  b.close();
  try {
    a->wait_welcome(30);
    FAIL() << "rank 2 has not come";
  } catch (const Error& error) {
    const auto* thrown = dynamic_cast<const FailureThrown*>(&error);
    ASSERT_NE(thrown, nullptr) << error.what();
    EXPECT_THAT(thrown->failure.gone, testing::ElementsAre(1));
    EXPECT_THAT(thrown->failure.gone_hosts, testing::ElementsAre("node1"));
  }
}

TEST_F(ServerTest, NamesAllRanksOfAProcessThatVanishes) {
  start(2, 4);
  const auto a = link(hello(0, 2, 4));
  RawSocket b = raw(hello(1, 2, 4));
  a->wait_welcome(30);
  b.close();
  const Failure failure = a->wait_failure(30);
  EXPECT_EQ(failure.message, "ranks 4-7 on node1 (pid 101) are gone");
  EXPECT_THAT(failure.gone, testing::ElementsAre(4, 5, 6, 7));
}

TEST_F(ServerTest, NamesAProcessThatIsSilent) {
  start(2, 1, 0.02);
  const auto a = link(hello(0, 2), 0.005);
  const RawSocket b = raw(hello(1, 2));
  EXPECT_THAT(a->wait_failure(30).message, HasSubstr("rank 1 on node1 (pid 101) is gone"));
}

// A rank that is stopped between two calls: the exchange's own limit may be that of many calls.
TEST_F(ServerTest, AnExchangeDoesNotWaitForAProcessThatIsSilent) {
  start(2, 1, 0.02, 5);
  const auto a = link(hello(0, 2), 0.005);
  const RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  try {
    all_gather(*a, "x", 1000);
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not come to an exchange: rank 1 on node1 (pid 101)"));
    EXPECT_THAT(error.what(), HasSubstr("no sign of life from rank 1 on node1"));
  }
}

// What ends a job is not to wait for a report of who is stopped.
TEST_F(ServerTest, NoReportIsExpectedOfAProcessThatIsSilent) {
  constexpr int never = 1'000'000'000;
  start(2, 1, 0.02, 5, never);
  const auto a = link(hello(0, 2), 0.005);
  const RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  EXPECT_THROW(all_gather(*a, "x", 1000), Timeout);
  a->end_report();
  EXPECT_TRUE(server_->attendance.wait_all_reported(30));
}

// The job's first calls have the limit of its start.
TEST_F(ServerTest, ACallDoesNotWaitForAProcessThatIsSilent) {
  start(3, 1, 0.02, 5);
  const auto a = link(hello(0, 3), 0.005), b = link(hello(1, 3), 0.005);
  const RawSocket c = raw(hello(2, 3));
  a->wait_welcome(30);
  b->report_status([] { return std::vector<RankStatus>{{1, 1, "all_reduce, first call"}}; });
  const Failure failure = a->wait_failure(30);
  EXPECT_EQ(failure.code, 5);
  EXPECT_THAT(failure.message,
              HasSubstr("does not come to a call, or out of it: rank 2 on node2 (pid 102)"));
  EXPECT_THAT(failure.message, HasSubstr("rank 1 inside all_reduce, first call"));
  EXPECT_THAT(failure.gone, testing::ElementsAre(2));
  EXPECT_THAT(failure.late, testing::ElementsAre(2));
}

// It is silent, but nobody waits for it: it may be in a long call, and its threads have no CPU.
TEST_F(ServerTest, ASilentProcessThatNobodyWaitsForIsLeftAlone) {
  start(2, 1, 0.05, 1);
  const auto a = link(hello(0, 2));
  const RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  EXPECT_EQ(a->wait_failure(0.2).code, 0);
}

TEST_F(ServerTest, AProcessThatSendsNonsenseIsNamed) {
  start(2);
  const auto a = link(hello(0, 2));
  const RawSocket b = raw(hello(1, 2));
  a->wait_welcome(30);
  b.send(encode_frame(FrameType::contribution, "short"));
  EXPECT_THAT(a->wait_failure(30).message, HasSubstr("rank 1 on node1 (pid 101) sent nonsense"));
}

TEST_F(ServerTest, LeavingWithoutAnExchangeIsNoFailure) {
  start(2);
  const auto a = link(hello(0, 2));
  auto b = link(hello(1, 2));
  a->wait_welcome(30);
  b->wait_welcome(30);
  b.reset();
  EXPECT_EQ(a->wait_failure(0.1).code, 0);
  EXPECT_THROW(all_gather(*a, "nobody answers", 30), Error);
  EXPECT_EQ(a->wait_failure(30).message,
            "rank 1 on node1 (pid 101) has left while others wait for it");
}

Hello with_flags(Hello hello, const std::string& settings) {
  hello.settings = settings;
  return hello;
}
Hello refusing(Hello hello, const std::string& why) {
  hello.refusal = {2, why};
  return hello;
}

TEST_F(ServerTest, WhoCannotTakePartSaysWhyToAllOthers) {
  start(4);
  const auto a = link(hello(0, 4)), b = link(hello(1, 4));
  const Failure why = end_of(refusing(hello(2, 4), "unknown option"));
  for (const Failure& failure : {why, a->wait_failure(30), b->wait_failure(30),
                                 end_of(hello(3, 4))}) {  // who comes later, too
    EXPECT_EQ(failure.code, 2);
    EXPECT_EQ(failure.message, "rank 2 on node2 (pid 102) cannot take part: unknown option");
  }
}

TEST_F(ServerTest, ALongRefusalIsCut) {
  start(3);
  const auto a = link(hello(0, 3));
  EXPECT_EQ(end_of(refusing(hello(1, 3), std::string(100'000, 'x'))).code, 2);
  EXPECT_LT(a->wait_failure(30).message.size(), first_frame_limit);
}

TEST_F(ServerTest, OtherSettingsOnASharedPortAreAnotherJobs) {
  may_be_shared_ = true;
  start(3);
  const auto a = link(hello(0, 3));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(link(hello(1, 2)), OtherSettings);  // WORLD_SIZE
    EXPECT_THROW(link(with_flags(hello(1, 3), "others")), OtherSettings);
    EXPECT_THROW(link(hello(1, 3, 2)), OtherSettings);
    EXPECT_THROW(link(refusing(hello(1, 2), "of the other job")), OtherSettings);
  }
  const auto b = link(hello(1, 3)), c = link(hello(2, 3));
  for (ControlClient* const member : {a.get(), b.get(), c.get()}) member->wait_welcome(30);
  EXPECT_THAT(log(), testing::ElementsAre(HasSubstr("rank 1 on node1 (pid 101) is not let in: "
                                                    "WORLD_SIZE is 2, on rank 0 on node0 (pid 100) "
                                                    "it is 3")));
}

// The job's ranks compare their flags then, and name what differs.
TEST_F(ServerTest, WhoHasOtherFlagsIsOfThisJobIfNobodyElseIsMissing) {
  may_be_shared_ = true;
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3));
  std::unique_ptr<ControlClient> c;
  while (!c) {
    try {
      c = link(with_flags(hello(2, 3), "others"));
    } catch (const OtherSettings&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  for (ControlClient* const member : {a.get(), b.get(), c.get()}) member->wait_welcome(30);
}

TEST_F(ServerTest, AnotherJobsRank0ThatCannotListenIsHeardByItsOwnRanksOnly) {
  may_be_shared_ = true;
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3));
  Hello rival = refusing(with_flags(hello(0, 3), "others"), "cannot listen");
  rival.pid = 4711;
  EXPECT_THAT(end_of(rival).message, HasSubstr("cannot listen"));
  for (const Hello& its : {with_flags(hello(1, 3), "others"), with_flags(hello(2, 3), "others"),
                           hello(1, 3)})  // the last: a twin, with the same flags
    EXPECT_EQ(end_of(its).message, "rank 0 on node0 (pid 4711) cannot take part: cannot listen");
  EXPECT_THROW(link(with_flags(hello(2, 3), "a third job's")), OtherSettings);
  const auto c = link(hello(2, 3));
  for (ControlClient* const member : {a.get(), b.get(), c.get()}) member->wait_welcome(30);
}

TEST_F(ServerTest, NamesWhoIsMissing) {
  start(3, 2);
  EXPECT_THAT(server_->missing(), testing::ElementsAre("ranks 0-1", "ranks 2-3", "ranks 4-5"));
  const auto b = link(hello(1, 3, 2));
  EXPECT_THAT(server_->missing(), testing::ElementsAre("ranks 0-1", "ranks 4-5"));
}

TEST_F(ServerTest, AbortReachesTheOthersWithCodeAndMessage) {
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3)), c = link(hello(2, 3));
  a->wait_welcome(30);
  b->abort({7, "wrong data", {2}, {0, 1}});
  for (ControlClient* const other : {a.get(), c.get()}) {
    const Failure failure = other->wait_failure(30);
    EXPECT_EQ(failure.code, 7);
    EXPECT_EQ(failure.message, "wrong data");
    EXPECT_THAT(failure.gone, testing::ElementsAre(2));
    EXPECT_THAT(failure.late, testing::ElementsAre(0, 1));
  }
  try {
    all_gather(*c, "x", 30);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::wrong_data);
  }
  a->abort({5, "second"});
  EXPECT_EQ(a->wait_failure(30).code, 7);
}

TEST_F(ServerTest, ExchangeTimeoutNamesTheMissing) {
  start(3);
  const auto a = link(hello(0, 3)), b = link(hello(1, 3)), c = link(hello(2, 3));
  a->wait_welcome(30);
  try {
    all_gather(*a, "x", 0.05);
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 on node1 (pid 101), rank 2 on node2 (pid 102)"));
  }
  const Failure failure = b->wait_failure(30);
  EXPECT_EQ(failure.code, 5);
  EXPECT_THAT(failure.late, testing::ElementsAre(1, 2));
  EXPECT_THAT(failure.gone, testing::IsEmpty());
}

TEST_F(ServerTest, NobodyListensWhenAllHaveCome) {
  start(1);
  const auto a = link(hello(0, 1));
  a->wait_welcome(30);
  EXPECT_THROW(link(hello(0, 1)), NoServer);
  EXPECT_EQ(all_gather(*a, "x", 30).size(), 1U);
}

TEST_F(ServerTest, WhoComesAfterAFailureLearnsOfIt) {
  start(3);
  const auto a = link(hello(0, 3));
  a->abort({5, "too late"});
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

class Stranger : public ServerTest, public testing::WithParamInterface<std::string> {};

TEST_P(Stranger, IsClosedAndLoggedOnceAndTheJobGoesOn) {
  start(2);
  const auto a = link(hello(0, 2));
  for (int i = 0; i < 3; ++i) {
    const RawSocket socket = RawSocket::connected_to(server_->port());
    socket.send(GetParam());
    const std::string heard = socket.read(control_magic.size() + frame_header_bytes + 1);
    const std::string greeting(control_magic);  // and then it was closed
    EXPECT_TRUE(heard.empty() || heard == greeting ||
                heard == greeting + encode_frame(FrameType::refused));
  }
  const auto b = link(hello(1, 2));
  a->wait_welcome(30);
  std::thread other([&] { EXPECT_EQ(all_gather(*b, "two", 30).size(), 2U); });
  EXPECT_EQ(all_gather(*a, "one", 30).size(), 2U);
  other.join();
  ASSERT_EQ(log().size(), 1U);
  EXPECT_THAT(log()[0], HasSubstr("127.0.0.1"));
}

INSTANTIATE_TEST_SUITE_P(
    ServerTest, Stranger,
    testing::Values("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x8f\x13\x77\x01\xfe\x20\x21\x22\x23", "",
                    "CCL", with_length(0xffffffff), with_length(5000), with_length(3) + "abc",
                    std::string(control_magic) + encode_frame(FrameType::goodbye),
                    std::string(control_magic) + encode(of_another_job())));

class Hundreds : public ServerTest, public testing::WithParamInterface<std::string> {};

// Of connections that say nothing, or half of it.
TEST_P(Hundreds, NeitherBlockNorExhaustTheServer) {
  start(2);
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 500; ++i) {
    sockets.push_back(RawSocket::connected_to(server_->port()));
    sockets.back().send(GetParam());
  }
  const auto a = link(hello(0, 2)), b = link(hello(1, 2));
  a->wait_welcome(30);
  for (const RawSocket& socket : sockets) {
    socket.read(control_magic.size());  // the server greets whoever comes in time
    EXPECT_TRUE(socket.closed_by_peer());
  }
  std::thread other([&] { EXPECT_EQ(all_gather(*b, "two", 30).size(), 2U); });
  EXPECT_EQ(all_gather(*a, "one", 30).size(), 2U);
  other.join();
  EXPECT_EQ(log().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Server, Hundreds,
                         testing::Values("", "CCL", std::string(control_magic),
                                         std::string(control_magic) +
                                             encode(hello(1, 2)).substr(0, 20)));

}  // namespace
}  // namespace ccl_tests
