#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "src/bootstrap/store_client.hpp"
#include "src/bootstrap/store_protocol.hpp"
#include "src/bootstrap/store_server.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {
namespace {

using test::RawSocket;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view validate = "\x00\xCE\xF7\x85\x3C"sv;

std::string u64(std::uint64_t n) {
  std::string out;
  put(out, n);
  return out;
}
std::string blob(std::string_view text) { return u64(text.size()) + std::string(text); }
std::string op(int number) { return std::string(1, static_cast<char>(number)); }

class Server : public testing::Test {
 protected:
  RawSocket valid() const {
    RawSocket socket = RawSocket::connected_to(server_.port());
    socket.send(validate);
    return socket;
  }
  StoreServer server_{0, "127.0.0.1"};
};

TEST_F(Server, PingAnswersTheNonce) {
  const RawSocket socket = RawSocket::connected_to(server_.port());
  socket.send(std::string(validate) + "\x0D\x44\x33\x22\x11");
  EXPECT_EQ(socket.read(4), "\x44\x33\x22\x11");
}

TEST_F(Server, SetThenGet) {
  const RawSocket socket = valid();
  socket.send(op(1) + blob("/x") + blob("val") + op(3) + blob("/x"));
  EXPECT_EQ(socket.read(11), "\x03\0\0\0\0\0\0\0val"s);
}

TEST_F(Server, GetOfAMissingKeyCloses) {
  const RawSocket socket = valid();
  socket.send(op(3) + blob("/x"));
  EXPECT_TRUE(socket.closed_by_peer());
}

TEST_F(Server, AddCountsAndStoresText) {
  const RawSocket socket = valid();
  socket.send(op(4) + blob("/n") + u64(5));
  EXPECT_EQ(socket.read(8), u64(5));
  socket.send(op(4) + blob("/n") + u64(static_cast<std::uint64_t>(-7)) + op(3) + blob("/n"));
  EXPECT_EQ(socket.read(18), u64(static_cast<std::uint64_t>(-2)) + blob("-2"));
}

TEST_F(Server, AddToTextCloses) {
  const RawSocket socket = valid();
  socket.send(op(1) + blob("/x") + blob("val") + op(4) + blob("/x") + u64(1));
  EXPECT_TRUE(socket.closed_by_peer());
}

TEST_F(Server, CompareSet) {
  const RawSocket socket = valid();
  socket.send(op(2) + blob("/x") + blob("expected") + blob("new"));  // missing: PyTorch's answer
  EXPECT_EQ(socket.read(16), blob("expected"));
  socket.send(op(2) + blob("/x") + blob("") + blob("first"));
  EXPECT_EQ(socket.read(13), blob("first"));
  socket.send(op(2) + blob("/x") + blob("other") + blob("third"));
  EXPECT_EQ(socket.read(13), blob("first"));
  socket.send(op(2) + blob("/x") + blob("first") + blob("second"));
  EXPECT_EQ(socket.read(14), blob("second"));
}

TEST_F(Server, CheckDeleteCountAppend) {
  const RawSocket socket = valid();
  const std::string check = op(5) + u64(2) + blob("/a") + blob("/b");
  socket.send(op(1) + blob("/a") + blob("1") + check);
  EXPECT_EQ(socket.read(1), "\x01");
  socket.send(op(9) + blob("/b") + blob("2") + op(9) + blob("/b") + blob("3") + check);
  EXPECT_EQ(socket.read(1), "\0"s);
  socket.send(op(3) + blob("/b") + op(7));
  EXPECT_EQ(socket.read(18), blob("23") + u64(2));
  socket.send(op(8) + blob("/b") + op(8) + blob("/b") + op(7));
  EXPECT_EQ(socket.read(24), u64(1) + u64(0) + u64(1));
}

TEST_F(Server, SeveralKeysAtOnce) {
  const RawSocket waiter = valid();
  waiter.send(op(6) + u64(2) + blob("/b") + blob("/a") + op(13) + "abcd");
  EXPECT_EQ(waiter.read(4), "abcd");
  const RawSocket socket = valid();
  socket.send(op(11) + u64(2) + blob("/a") + blob("one") + blob("/b") + blob("two"));
  EXPECT_EQ(waiter.read(1), "\0"s);
  socket.send(op(10) + u64(3) + blob("/b") + blob("/a") + blob("/b"));
  EXPECT_EQ(socket.read(33), blob("two") + blob("one") + blob("two"));
  socket.send(op(10) + u64(2) + blob("/a") + blob("/c"));  // as GET of a missing key
  EXPECT_TRUE(socket.closed_by_peer());
}

TEST_F(Server, WaitEndsWhenTheLastKeyComes) {
  const RawSocket waiter = valid();
  waiter.send(op(6) + u64(2) + blob("/a") + blob("/b") + op(13) + "abcd");
  EXPECT_EQ(waiter.read(4), "abcd");  // nothing before it: the wait goes on
  const RawSocket setter = valid();
  setter.send(op(1) + blob("/a") + blob("1") + op(4) + blob("/b") + u64(1));
  EXPECT_EQ(setter.read(8), u64(1));
  EXPECT_EQ(waiter.read(1), "\0"s);
}

TEST_F(Server, CancelWait) {
  const RawSocket socket = valid();
  socket.send(op(6) + u64(1) + blob("/a") + op(12));
  EXPECT_EQ(socket.read(1), "\x01");
  socket.send(op(1) + blob("/a") + blob("1") + op(13) + "abcd");
  EXPECT_EQ(socket.read(4), "abcd");  // and no late answer to the wait
}

TEST_F(Server, AWaitThatWasCancelledIsForgotten) {
  const RawSocket socket = valid();
  socket.send(op(6) + u64(1) + blob("/a") + op(12) + op(6) + u64(1) + blob("/b"));
  EXPECT_EQ(socket.read(1), "\x01");
  RawSocket other = valid();
  other.send(op(6) + u64(1) + blob("/a") + op(13) + "abcd");
  EXPECT_EQ(other.read(4), "abcd");
  other.close();
  const RawSocket setter = valid();
  setter.send(op(1) + blob("/a") + blob("1") + op(13) + "abcd");
  EXPECT_EQ(setter.read(4), "abcd");
  socket.send(op(13) + "efgh");
  EXPECT_EQ(socket.read(4), "efgh");  // no answer before: /b is missing
  setter.send(op(1) + blob("/b") + blob("1"));
  EXPECT_EQ(socket.read(1), "\0"s);
}

TEST_F(Server, RequestsMayComeByteByByte) {
  const RawSocket socket = RawSocket::connected_to(server_.port());
  for (const char c :
       std::string(validate) + op(1) + blob("/x") + blob("val") + op(3) + blob("/x")) {
    socket.send(std::string(1, c));
  }
  EXPECT_EQ(socket.read(11), blob("val"));
}

class Nonsense : public Server, public testing::WithParamInterface<std::string> {};

TEST_P(Nonsense, ClosesThatConnectionOnly) {
  const RawSocket bystander = valid();
  const RawSocket socket = RawSocket::connected_to(server_.port());
  socket.send(GetParam());
  EXPECT_TRUE(socket.closed_by_peer());
  bystander.send(op(13) + "abcd");
  EXPECT_EQ(bystander.read(4), "abcd");
}

INSTANTIATE_TEST_SUITE_P(
    Store, Nonsense,
    testing::Values("\0abcd"s, "GET / HTTP/1.1\r\n\r\n"s, op(13) + "abcd"s,
                    std::string(validate) + op(99), std::string(validate) + op(1) + u64(8193),
                    std::string(validate) + op(1) + blob("/x") + u64((8 << 20) + 1),
                    std::string(validate) + op(6) + u64(~std::uint64_t{0}),
                    std::string(validate) + op(11) + u64(1) + blob("/x") + u64((8 << 20) + 1),
                    std::string(validate) + op(3) + u64(~std::uint64_t{0})));

// What comes of a connection that says nothing, or stops in the middle of what it says.
class HalfOpen : public testing::TestWithParam<std::string> {
 protected:
  RawSocket stuck() const {
    RawSocket socket = RawSocket::connected_to(server_.port());
    socket.send(GetParam());
    return socket;
  }
  void expect_service() const {
    StoreClient client("127.0.0.1", server_.port(), deadline_in(30));
    const std::int64_t before = client.add("n", 0, deadline_in(30));
    EXPECT_EQ(client.add("n", 1, deadline_in(30)), before + 1);
  }
  StoreServer server_{0, "127.0.0.1", {0.2, 20}};
};

TEST_P(HalfOpen, IsClosedAfterItsTime) {
  const RawSocket waiter = RawSocket::connected_to(server_.port());
  waiter.send(std::string(validate) + op(6) + u64(1) + blob("/n") + op(13) + "abcd");
  EXPECT_EQ(waiter.read(4), "abcd");
  EXPECT_TRUE(stuck().closed_by_peer());
  expect_service();
  EXPECT_EQ(waiter.read(1), "\0"s);  // a wait is no half request: it may last
}

TEST_P(HalfOpen, HundredsNeitherBlockNorExhaustTheStore) {
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 500; ++i) sockets.push_back(stuck());
  expect_service();
  for (const RawSocket& socket : sockets) EXPECT_TRUE(socket.closed_by_peer());
}

INSTANTIATE_TEST_SUITE_P(Store, HalfOpen,
                         testing::Values(""s, "\0\xCE"s, std::string(validate) + op(1),
                                         std::string(validate) + op(1) + blob("/x") + u64(100) +
                                             "half"));

TEST(StoreProbation, TheOldestGoFirst) {
  const StoreServer server(0, "127.0.0.1", {60, 2});
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 4; ++i) {
    sockets.push_back(RawSocket::connected_to(server.port()));
    if (i < 2) continue;
    EXPECT_TRUE(sockets[static_cast<std::size_t>(i) - 2].closed_by_peer());
  }
  for (int i = 2; i < 4; ++i) {
    const RawSocket& socket = sockets[static_cast<std::size_t>(i)];
    socket.send(std::string(validate) + op(13) + "abcd");
    EXPECT_EQ(socket.read(4), "abcd");
  }
}

TEST_F(Server, LargestBlobPasses) {
  StoreClient client("127.0.0.1", server_.port(), deadline_in(30));
  const std::string large(8 << 20, 'x');
  client.set("k", large, deadline_in(30));
  EXPECT_EQ(client.get("k", deadline_in(30)), large);
}

TEST_F(Server, TakenPortIsAnError) {
  EXPECT_THROW(StoreServer(server_.port(), "127.0.0.1"), std::system_error);
}

TEST(StoreServerAnywhere, ListensOnIPv4Too) {
  const StoreServer server(0);
  StoreClient client("127.0.0.1", server.port(), deadline_in(30));
  EXPECT_EQ(client.add("n", 3, deadline_in(30)), 3);
  EXPECT_EQ(client.local_address(), "127.0.0.1");
  EXPECT_TRUE(client.local_address_is_loopback());
}

TEST(StoreClientBytes, AreThoseOfPyTorch) {
  const RawSocket listener = RawSocket::listening();
  auto client = std::async(std::launch::async, [port = listener.port()] {
    StoreClient store("127.0.0.1", port, deadline_in(30));
    store.set("k", "val", deadline_in(30));
    const std::string got = store.get("k", deadline_in(30));
    return got + " " + std::to_string(store.add("n", 5, deadline_in(30)));
  });
  const RawSocket socket = listener.accept();
  EXPECT_EQ(socket.read(5), validate);
  const std::string ping = socket.read(5);
  EXPECT_EQ(ping[0], '\x0D');
  socket.send(ping.substr(1));
  EXPECT_EQ(socket.read(22), op(1) + blob("/k") + blob("val"));
  EXPECT_EQ(socket.read(19), op(6) + u64(1) + blob("/k"));
  socket.send("\0"sv);
  EXPECT_EQ(socket.read(11), op(3) + blob("/k"));
  socket.send(blob("other"));
  EXPECT_EQ(socket.read(19), op(4) + blob("/n") + u64(5));
  socket.send(u64(12));
  EXPECT_EQ(client.get(), "other 12");
}

TEST(StoreClient, WaitsForAKey) {
  const StoreServer server(0, "127.0.0.1");
  auto value = std::async(std::launch::async, [&] {
    return StoreClient("127.0.0.1", server.port(), deadline_in(30)).get("k", deadline_in(30));
  });
  StoreClient client("127.0.0.1", server.port(), deadline_in(30));
  client.set("k", "v", deadline_in(30));
  EXPECT_EQ(value.get(), "v");
}

TEST(StoreClient, StaysUsableAfterAWaitTimedOut) {
  const StoreServer server(0, "127.0.0.1");
  StoreClient client("127.0.0.1", server.port(), deadline_in(30));
  EXPECT_THROW(client.get("k", deadline_in(0.05)), Timeout);
  client.set("k", "v", deadline_in(30));
  EXPECT_EQ(client.get("k", deadline_in(30)), "v");
  EXPECT_TRUE(client.remove("k", deadline_in(30)));
  EXPECT_FALSE(client.remove("k", deadline_in(30)));
}

TEST(StoreClient, TriesAgainUntilTheServerIsThere) {
  const int port = RawSocket::listening().port();  // free again by now
  auto sum = std::async(std::launch::async, [port] {
    return StoreClient("127.0.0.1", port, deadline_in(30)).add("n", 1, deadline_in(30));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const StoreServer server(port, "127.0.0.1");
  EXPECT_EQ(sum.get(), 1);
}

TEST(StoreClient, NobodyThereIsATimeoutThatNamesTheAddress) {
  const int port = RawSocket::listening().port();
  try {
    StoreClient("127.0.0.1", port, deadline_in(0.1));
    FAIL();
  } catch (const Timeout& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("127.0.0.1:" + std::to_string(port)));
  }
}

TEST(StoreClient, ASilentServerIsATimeout) {
  const RawSocket listener = RawSocket::listening();
  EXPECT_THROW(StoreClient("127.0.0.1", listener.port(), deadline_in(0.1)), Timeout);
}

TEST(StoreClient, ALostServerIsAnError) {
  auto server = std::make_unique<StoreServer>(0, "127.0.0.1");
  StoreClient client("127.0.0.1", server->port(), deadline_in(30));
  server.reset();
  EXPECT_THROW(client.get("k", deadline_in(30)), Error);
}

}  // namespace
}  // namespace ccl_tests
