// Which addresses ranks agree on, by what each may use. No network.
#include "src/backends/gloo/addresses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"

namespace ccl_tests::gloo_module {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const InterfaceAddress a4{.interface = "eth0", .address = "10.0.0.1"};
const InterfaceAddress b4{.interface = "eth0", .address = "10.0.0.2"};
const InterfaceAddress c4{.interface = "eth0", .address = "10.0.0.3"};
const InterfaceAddress a6{.interface = "eth0", .address = "fd00::1"};
const InterfaceAddress b6{.interface = "eth0", .address = "fd00::2"};
const InterfaceAddress c6{.interface = "eth0", .address = "fd00::3"};
const InterfaceAddress lo{.interface = "lo", .address = "127.0.0.1", .loopback = true};

// Each on a host of its own.
std::vector<RankAddresses> ranks(const std::vector<std::vector<InterfaceAddress>>& addresses) {
  std::vector<RankAddresses> result;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    result.push_back({"node" + std::to_string(i), std::to_string(i), "--interface", addresses[i]});
  return result;
}

std::vector<std::string> agreed(const std::vector<RankAddresses>& all) {
  std::vector<std::string> result;
  for (const RankAddresses& rank : agreed_on(all)) {
    EXPECT_EQ(rank.addresses.size(), 1U);
    result.push_back(rank.addresses.front().address);
  }
  return result;
}

template <class Refusal>
std::string refusal(const std::vector<RankAddresses>& all) {
  try {
    agreed_on(all);
    return "accepted";
  } catch (const Refusal& error) {
    return error.what();
  }
}

TEST(GlooAddresses, TheFamilyThatAllHave) {
  EXPECT_THAT(agreed(ranks({{a4}})), ElementsAre("10.0.0.1"));
  EXPECT_THAT(agreed(ranks({{a4}, {b6, b4}, {c6, c4}})),
              ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  EXPECT_THAT(agreed(ranks({{a4, a6}, {b6}, {c4, c6}})),
              ElementsAre("fd00::1", "fd00::2", "fd00::3"));
}

TEST(GlooAddresses, OfTwoCommonFamiliesTheOneThatMostPrefer) {
  EXPECT_THAT(agreed(ranks({{a4, a6}, {b6, b4}, {c6, c4}})), Each(HasSubstr("fd00::")));
  EXPECT_THAT(agreed(ranks({{a6, a4}, {b4, b6}})), Each(Not(HasSubstr("fd00::"))));
}

TEST(GlooAddresses, WithoutACommonFamilyThoseWhoDifferAreNamed) {
  EXPECT_EQ(refusal<Unsupported>(ranks({{a4, a6}, {b6}, {c4}})),
            "gloo: no address family is common: rank 2 on node2 (eth0 10.0.0.3, chosen by "
            "--interface) has no IPv6 address, rank 1 on node1 (eth0 fd00::2, chosen by "
            "--interface) no IPv4 address; choose another interface with --interface");
}

TEST(GlooAddresses, AnAddressOfTwoHostsIsRefused) {
  EXPECT_THAT(refusal<UsageError>(ranks({{b4}, {a4}, {a4}})),
              HasSubstr("rank 1 on node1 (eth0 10.0.0.1, chosen by --interface) and rank 2 on "
                        "node2 (eth0 10.0.0.1, chosen by --interface) have the same address"));
}

TEST(GlooAddresses, LoopbackIsForOneHost) {
  EXPECT_THAT(refusal<UsageError>(ranks({{b4}, {lo}})),
              HasSubstr("rank 1 on node1 (lo 127.0.0.1, chosen by --interface) is not reached "
                        "from rank 0 on node0"));
  std::vector<RankAddresses> one_host = ranks({{lo}, {lo}, {b4}});
  for (RankAddresses& rank : one_host) rank.network = "0";
  EXPECT_THAT(agreed(one_host), ElementsAre("127.0.0.1", "127.0.0.1", "10.0.0.2"));
}

TEST(GlooAddresses, AFailureNamesBothAddressesAndTheFlag) {
  const auto all = ranks({{a4}, {b4}, {c4}});
  EXPECT_EQ(
      addresses_text(all, 1, "connect [10.0.0.3]:4711: Connection refused"),
      "; from rank 1 on node1 (eth0 10.0.0.2, chosen by --interface) to rank 2 on node2 (eth0 "
      "10.0.0.3, chosen by --interface); choose another interface with --interface");
  EXPECT_THAT(addresses_text(all, 1, "Timed out"), HasSubstr("to rank 0 on node0"));
  EXPECT_EQ(addresses_text({}, 0, "Timed out"), "");
  EXPECT_EQ(addresses_text(ranks({{a4}}), 0, "Timed out"), "");
}

}  // namespace
}  // namespace ccl_tests::gloo_module
