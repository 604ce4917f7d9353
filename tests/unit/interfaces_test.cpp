#include "src/core/interfaces.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace ccl_tests
