#include "src/core/interfaces.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "src/core/error.hpp"
#include "src/run/wire_check.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::vector<InterfaceAddress> host = {
    {.interface = "lo", .address = "127.0.0.1", .loopback = true},
    {.interface = "docker0", .address = "172.17.0.1"},
    {.interface = "eth1", .address = "10.1.0.7"},
    {.interface = "eth10", .address = "10.10.0.7"},
    {.interface = "eth2", .address = "10.2.0.7", .up = false},
    {.interface = "ib0", .address = "10.3.0.7"},
    {.interface = "ib0", .address = "fd00::7"},
    {.interface = "ib0", .address = "fe80::7%ib0"},
};

std::vector<std::string> meant(std::string_view text) {
  std::vector<std::string> addresses;
  for (const InterfaceAddress& one : matching(parse_interfaces(text), host))
    addresses.push_back(one.address);
  return addresses;
}

std::string refusal(std::string_view text, const std::vector<InterfaceAddress>& all = host) {
  try {
    chosen_addresses("--interface", text, all);
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Interfaces, AnItemIsAWholeNameOrElseTheBeginningOfNames) {
  EXPECT_THAT(meant("eth1"), ElementsAre("10.1.0.7"));
  EXPECT_THAT(meant("eth"), ElementsAre("10.1.0.7", "10.10.0.7"));
  EXPECT_THAT(meant("=eth1"), ElementsAre("10.1.0.7"));
  EXPECT_THAT(meant("=eth"), IsEmpty());
}

TEST(Interfaces, AListIsInItsOrder) {
  EXPECT_THAT(meant("ib,eth1"), ElementsAre("10.3.0.7", "fd00::7", "fe80::7%ib0", "10.1.0.7"));
  EXPECT_THAT(meant("nosuch0,eth1,eth"), ElementsAre("10.1.0.7", "10.10.0.7"));
  EXPECT_THAT(meant("=eth,eth10"), ElementsAre("10.10.0.7"));
}

TEST(Interfaces, ExcludedOnesAreTheBeginningOfNames) {
  EXPECT_THAT(meant("^lo,docker,ib"), ElementsAre("10.1.0.7", "10.10.0.7"));
  EXPECT_THAT(meant("^=eth1,docker0,ib0,lo"), ElementsAre("10.10.0.7"));
  EXPECT_THAT(meant("^docker,ib,eth10"), ElementsAre("10.1.0.7", "127.0.0.1"));
  EXPECT_THAT(meant("^10.3.0.7,docker,eth,lo"), ElementsAre("fd00::7", "fe80::7%ib0"));
}

TEST(Interfaces, AnAddressIsItsInterfaceWithThisAddressAlone) {
  EXPECT_THAT(meant("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(meant("fd00:0::7"), ElementsAre("fd00::7"));
  EXPECT_THAT(meant("[fd00::7]"), ElementsAre("fd00::7"));
  EXPECT_THAT(meant("::ffff:10.3.0.7"), ElementsAre("10.3.0.7"));
  EXPECT_THAT(meant("10.2.0.7"), IsEmpty());
}

TEST(Interfaces, TextWithoutAnItemIsRefused) {
  for (const char* text : {"", ",", "eth0,", ",eth0", "eth0,,ib0", "^", "=", "^=", "^lo,^docker",
                           "=eth0,=ib0", "eth0, ib0", "=^lo"})
    EXPECT_THROW(parse_interfaces(text), UsageError) << text;
}

TEST(Interfaces, RefusalsSayWhatThereIs) {
  EXPECT_EQ(refusal("eth9"),
            "--interface: there is no interface 'eth9' that is up with an IP address; accepted: "
            "docker0 (172.17.0.1), eth1 (10.1.0.7), eth10 (10.10.0.7), ib0 (10.3.0.7, fd00::7, "
            "fe80::7%ib0), lo (127.0.0.1)");
  EXPECT_THAT(refusal("eth2"), HasSubstr("no interface 'eth2' that is up"));
  EXPECT_THAT(refusal("10.9.9.9"),
              HasSubstr("no interface that is up has the address '10.9.9.9'; accepted: docker0"));
  EXPECT_THAT(refusal("^lo,docker,eth,ib"),
              HasSubstr("'^lo,docker,eth,ib' leaves no interface that is up with an IP address"));
  EXPECT_THAT(refusal("eth0", {}), HasSubstr("accepted: none, no interface is up"));
}

TEST(Interfaces, RefusalsShortenNamesAndLists) {
  std::vector<InterfaceAddress> many;
  for (int i = 0; i < 400; ++i)
    many.push_back({.interface = "veth" + std::to_string(i), .address = "10.0.0.1"});
  const std::string text = refusal(std::string(5000, 'x'), many);
  EXPECT_THAT(text, HasSubstr("xxx...' (5000 characters)"));
  EXPECT_THAT(text, HasSubstr("veth11 (10.0.0.1) and 388 more"));
  EXPECT_LT(text.size(), 600U);
}

TEST(Interfaces, AnIpv4AddressThatIpv6CarriesIsThatOfIpv4) {
  sockaddr_in6 mapped{};
  mapped.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:10.0.0.7", &mapped.sin6_addr), 1);
  EXPECT_EQ(numeric_address(reinterpret_cast<const sockaddr*>(&mapped)), "10.0.0.7");
  EXPECT_EQ(numeric_address(nullptr), "");
}

TEST(SentBytes, AreThoseOfEachInterface) {
  const TemporaryFolder folder;
  EXPECT_TRUE(sent_bytes(folder.path()).empty());
  folder.write("proc/net/dev",
               "Inter-|   Receive                            |  Transmit\n"
               " face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n"
               "    lo: 1 2 3 4 5 6 7 8 900 1 0 0 0 0 0 0\n"
               "  eth0:11 2 3 4 5 6 7 8 18446744073709551615 1 0 0 0 0 0 0\n"
               "broken: 1 2\n");
  EXPECT_THAT(sent_bytes(folder.path()),
              ElementsAre(Pair("eth0", 18446744073709551615U), Pair("lo", 900)));
}

class Wires : public testing::Test {
 protected:
  // A rank that chose eth1 and whose library has sent 50 MB.
  static RankWire rank(const char* host, long pid, std::uint64_t by_eth0, std::uint64_t by_eth1) {
    return {.host = host,
            .place = std::string(host) + " id",
            .pid = pid,
            .interface = "eth1",
            .by = "--interface",
            .sent = 50'000'000,
            .counted = {{"eth0", by_eth0}, {"eth1", by_eth1}, {"lo", 900'000'000}}};
  }
  static AfterRows judged(const std::vector<RankWire>& ranks) {
    AfterRows found;
    judge_wires(ranks, found);
    return found;
  }
};

TEST_F(Wires, AreRightIfTheChosenOneCountsTheBytes) {
  // Other programs may use another one for more.
  const AfterRows found =
      judged({rank("a", 1, 700'000'000, 52'000'000), rank("b", 2, 0, 51'000'000)});
  EXPECT_FALSE(found.wrong_wire);
  EXPECT_EQ(found.wire, "interface: 103 MB left by eth1 (--interface)");
}

TEST_F(Wires, AreWrongIfAnotherOneDoes) {
  const AfterRows found = judged({rank("a", 1, 300, 52'000'000), rank("b", 2, 52'000'000, 218)});
  EXPECT_TRUE(found.wrong_wire);
  EXPECT_THAT(found.wire, HasSubstr("on b 50 MB of the library left by eth0, 218 B by eth1 "
                                    "(--interface)"));
  // Threads of a process count the same sockets, processes their own.
  EXPECT_FALSE(judged({4, rank("a", 1, 0, 52'000'000)}).wrong_wire);
  EXPECT_TRUE(judged({rank("a", 1, 80'000'000, 20'000'000), rank("a", 2, 80'000'000, 20'000'000)})
                  .wrong_wire);
}

TEST_F(Wires, SayNothingOfRanksThatChoseNoneOrStayOnTheirHost) {
  RankWire none = rank("a", 1, 52'000'000, 0), alone = none;
  none.interface = "";
  alone.sent = 0;
  for (const RankWire& one : {none, alone}) {
    EXPECT_EQ(judged({one}).wire, "");
    EXPECT_FALSE(judged({one}).wrong_wire);
  }
}

TEST_F(Wires, ThatCannotBeReadAreNotVerified) {
  RankWire dark = rank("b", 2, 0, 0);
  dark.counted.clear();
  const AfterRows found = judged({rank("a", 1, 0, 52'000'000), dark});
  EXPECT_FALSE(found.wrong_wire);
  EXPECT_THAT(found.wire, HasSubstr("not verified that bytes leave by eth1"));
}

}  // namespace
}  // namespace ccl_tests
