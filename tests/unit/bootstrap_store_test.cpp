#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_agent_store.hpp"
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

TEST(StoreClientBytes, AreThoseOfPyTorch) {
  const RawSocket listener = RawSocket::listening();
  auto client = std::async(std::launch::async, [port = listener.port()] {
    StoreClient store("127.0.0.1", port, deadline_in(30));
    store.set("k", "val", deadline_in(30));
    const std::string got = store.get("k", deadline_in(30));
    return got + (store.remove("n", deadline_in(30)) ? " is gone" : " stays");
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
  EXPECT_EQ(socket.read(11), op(8) + blob("/n"));
  socket.send(u64(1));
  EXPECT_EQ(client.get(), "other is gone");
}

TEST(StoreClient, WaitsForAKey) {
  const test::AgentStore server;
  auto value = std::async(std::launch::async, [&] {
    return StoreClient("127.0.0.1", server.port(), deadline_in(30)).get("k", deadline_in(30));
  });
  StoreClient client("127.0.0.1", server.port(), deadline_in(30));
  client.set("k", "v", deadline_in(30));
  EXPECT_EQ(value.get(), "v");
}

TEST(StoreClient, StaysUsableAfterAWaitTimedOut) {
  const test::AgentStore server;
  StoreClient client("127.0.0.1", server.port(), deadline_in(30));
  EXPECT_THROW(client.get("k", deadline_in(0.05)), Timeout);
  client.set("k", "v", deadline_in(30));
  EXPECT_EQ(client.get("k", deadline_in(30)), "v");
  EXPECT_TRUE(client.remove("k", deadline_in(30)));
  EXPECT_FALSE(client.remove("k", deadline_in(30)));
}

TEST(StoreClient, TriesAgainUntilTheServerAnswers) {
  const RawSocket listener = RawSocket::listening();
  auto removed = std::async(std::launch::async, [port = listener.port()] {
    return StoreClient("127.0.0.1", port, deadline_in(30)).remove("n", deadline_in(30));
  });
  for (int i = 0; i < 3; ++i) listener.accept();  // and closes
  const RawSocket socket = listener.accept();
  socket.read(5);
  socket.send(socket.read(5).substr(1));
  socket.send(u64(1));
  EXPECT_TRUE(removed.get());
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
  auto server = std::make_unique<test::AgentStore>();
  StoreClient client("127.0.0.1", server->port(), deadline_in(30));
  server.reset();
  EXPECT_THROW(client.get("k", deadline_in(30)), Error);
}

}  // namespace
}  // namespace ccl_tests
