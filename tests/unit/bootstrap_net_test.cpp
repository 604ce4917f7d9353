#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {
namespace {

using test::RawSocket;
using test::reserved_port;
using testing::HasSubstr;

Endpoints on_loopback(int port) {
  return {{asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)}};
}

TEST(Listen, ProgramsThatThisProcessStartsDoNotInheritTheSocket) {
  asio::io_context io;
  for (const char* address : {"127.0.0.1", ""}) {
    auto listener = listen_on(io, {.address = address});
    EXPECT_EQ(::fcntl(listener.native_handle(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(Resolve, ANumberNeedsNoLookUp) {
  const auto never = [](const std::string&, int) -> Endpoints {
    ADD_FAILURE();
    return {};
  };
  EXPECT_EQ(resolve("127.0.0.1", 29500, deadline_in(0), never), on_loopback(29500));
  EXPECT_EQ(resolve("::1", 1, deadline_in(0), never)[0].address(),
            asio::ip::address_v6::loopback());
}

TEST(Resolve, ANameOfTheSystem) {
  const Endpoints found = resolve("localhost", 29500, deadline_in(30));
  ASSERT_FALSE(found.empty());
  for (const auto& endpoint : found) {
    EXPECT_TRUE(endpoint.address().is_loopback());
    EXPECT_EQ(endpoint.port(), 29500);
  }
}

// The look-up outlives the wait for it and the test's own variables; the test ends it.
TEST(Resolve, ALookUpThatHangsIsLeftBehindAtTheDeadline) {
  const auto release = std::make_shared<std::promise<void>>();
  const auto ended = std::make_shared<std::promise<void>>();
  try {
    resolve("slow.example", 1, deadline_in(0.05), [=](const std::string&, int) -> Endpoints {
      release->get_future().wait();
      ended->set_value();
      return {};
    });
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::timed_out);
    EXPECT_THAT(error.what(), HasSubstr("the name slow.example cannot be resolved"));
  }
  release->set_value();
  ended->get_future().wait();
}

TEST(Resolve, WhatTheLookUpSaysIsPassedOn) {
  try {
    resolve("no.example", 1, deadline_in(30), [](const std::string&, int) -> Endpoints {
      throw std::system_error(asio::error::host_not_found, "x");
    });
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::host_not_found);
  }
}

TEST(ConnectOnce, AnAddressThatRefusesIsPassedOver) {
  const int nobody = reserved_port();
  const RawSocket listener = RawSocket::listening();
  asio::io_context io;
  const Endpoints both = {on_loopback(nobody)[0], on_loopback(listener.port())[0]};
  EXPECT_EQ(connect_once(io, both, deadline_in(30)).remote_endpoint().port(), listener.port());
}

// A listener whose queue is full lets a connection wait, as a host that is switched off does.
TEST(ConnectOnce, AnAddressThatDoesNotAnswerLeavesTimeForTheNext) {
  const RawSocket full = RawSocket::listening(0);
  const RawSocket a = RawSocket::connected_to(full.port());
  const RawSocket listener = RawSocket::listening();
  asio::io_context io;
  EXPECT_THROW(connect_once(io, on_loopback(full.port()), deadline_in(0.2)), std::system_error);
  const Endpoints both = {on_loopback(full.port())[0], on_loopback(listener.port())[0]};
  EXPECT_EQ(connect_once(io, both, deadline_in(2)).remote_endpoint().port(), listener.port());
}

TEST(ConnectOnce, NobodyIsAnErrorThatNamesTheAddress) {
  const int nobody = reserved_port();
  asio::io_context io;
  try {
    connect_once(io, on_loopback(nobody), deadline_in(30));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::connection_refused);
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:" + std::to_string(nobody)));
  }
  EXPECT_THROW(connect_once(io, {}, deadline_in(30)), std::system_error);
}

TEST(ConnectOnce, NamesEveryAddressThatFailed) {
  const int a = reserved_port(), b = reserved_port();
  asio::io_context io;
  try {
    connect_once(io, {on_loopback(a)[0], on_loopback(b)[0]}, deadline_in(30));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), "127.0.0.1:" + std::to_string(a) + ": Connection refused; 127.0.0.1:" +
                                std::to_string(b) + ": Connection refused");
  }
}

TEST(Addresses, OfThisHostAreKnown) {
  const auto own = [](const char* text) { return any_is_own({{asio::ip::make_address(text), 1}}); };
  EXPECT_TRUE(own("127.0.0.1"));
  EXPECT_TRUE(own("127.0.1.1"));
  EXPECT_FALSE(own("198.51.100.7"));  // of nobody: RFC 5737
  EXPECT_FALSE(own("2001:db8::7"));
  for (const std::string& address : host_addresses()) EXPECT_TRUE(own(address.c_str()));
  EXPECT_FALSE(any_is_own({}));
}

TEST(UnknownName, IsBelievedAfterThreeAnswersInARow) {
  UnknownName name;
  const auto ask = [&](std::error_code error) { name.answered("nosuch", error); };
  for (const bool interrupted : {true, false}) {
    ask(asio::error::host_not_found);
    EXPECT_TRUE(name.suspected());
    EXPECT_NO_THROW(ask(asio::error::host_not_found));
    if (!interrupted) continue;
    ask(asio::error::host_not_found_try_again);
    EXPECT_FALSE(name.suspected());
  }
  EXPECT_THROW(ask(asio::error::host_not_found), UsageError);
}

TEST(StoreClientName, ThatIsNoneIsAUsageError) {
  try {
    StoreClient("no-such-host.invalid", 29500, deadline_in(60));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no such name as 'no-such-host.invalid'"));
  }
}

TEST(StoreClientName, ThatDoesNotResolveIsNamedAtTheDeadline) {
  try {
    StoreClient("no-such-host.invalid", 29500, deadline_in(0.2));
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_THAT(error.what(), HasSubstr("the name no-such-host.invalid cannot be resolved"));
  }
}

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

// 16 million empty ones take half a gigabyte.
TEST(ControlFrame, RefusesMorePartsThanAJobHasRanks) {
  using std::string_literals::operator""s;
  EXPECT_THROW(unpack("\x00\x00\xff\x00\x00\x00\x00\x00"s), Error);
  EXPECT_THROW(pack(std::vector<std::string>((1 << 20) + 1)), Error);
  EXPECT_EQ(unpack(pack(std::vector<std::string>(1 << 20))).size(), 1U << 20);
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
