// Links, racks and uplinks: what is slow between hosts, not at them.
#include <gtest/gtest.h>

#include <map>

#include "src/measure/statistics.hpp"
#include "tests/unit/acceptance_noise.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::Fabric;
using test::Launch;
using test::named;
using test::names_any;
using test::slow;

// A launch that looks for links, with one that is slow both ways.
Launch with_link(const test::NoiseShape& noise, int hosts, int a, int b, double effect) {
  Launch launch{noise, hosts, {}, {}};
  launch.prepare = [=](Fabric& fabric) { fabric.bad_links = {{a, b, effect, effect}}; };
  launch.plan.links = true;
  return launch;
}

TEST(AcceptanceLinks, ALinkIsNamedAndNotItsHosts) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Launch launch = with_link(test::noise_a(), 64, 7, 40, slow(0.2));
    const Findings found = launch.run(seed);
    EXPECT_TRUE(named(found).empty());
    ASSERT_EQ(found.links.size(), 1u);
    EXPECT_EQ(std::min(found.links[0].hosts.a, found.links[0].hosts.b), 7);
    EXPECT_EQ(std::max(found.links[0].hosts.a, found.links[0].hosts.b), 40);
    EXPECT_FALSE(found.links[0].one_way);
    EXPECT_NEAR(found.links[0].size.slowdown, 0.2, 0.03);
    EXPECT_EQ(found.link_verdict, LinkVerdict::found);
    EXPECT_EQ(found.pairs_seen, found.pairs);
    EXPECT_EQ(found.screened, 8u);
  }
}

TEST(AcceptanceLinks, OneDirectionOnly) {
  Launch launch{test::noise_a(),
                16,
                [](Fabric& fabric) {
                  fabric.bad_links = {{7, 3, slow(0.2), 0}};
                },
                {}};
  launch.plan.links = true;
  const Findings found = launch.run(4);
  EXPECT_TRUE(named(found).empty());
  ASSERT_EQ(found.links.size(), 1u);
  EXPECT_EQ(found.links[0].hosts.a, 7);
  EXPECT_EQ(found.links[0].hosts.b, 3);
  EXPECT_TRUE(found.links[0].one_way);
}

TEST(AcceptanceLinks, PartOfATournamentSaysNothingOfLinks) {
  const Findings found = Launch{test::noise_a(), 64, {}, {}}.run(1);
  EXPECT_EQ(found.link_verdict, LinkVerdict::skipped);
  EXPECT_EQ(found.pairs, 64u * 63 / 2);
  EXPECT_EQ(found.pairs_seen, 8u * 32);
}

TEST(AcceptanceLinks, SixHosts) {
  int links = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Launch launch = with_link(test::noise_a(), 6, 1, 4, slow(0.5));
    const Findings found = launch.run(seed);
    EXPECT_TRUE(named(found).empty()) << seed;
    links += found.links.size() == 1 ? 1 : 0;
  }
  EXPECT_GE(links, 18);
}

// Of six hosts, a link is a fifth of what its ends do: noise leaves them suspects, and their links are looked at all the same.
TEST(AcceptanceLinks, OfASuspectIsFound) {
  int links = 0;
  std::vector<double> slowdowns;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Launch launch = with_link(test::noise_c(), 6, 1, 4, slow(0.7));
    const Findings found = launch.run(seed);
    if (found.links.empty()) continue;
    ++links;
    slowdowns.push_back(found.links.front().size.slowdown);
  }
  EXPECT_GE(links, 48);
  EXPECT_NEAR(median(slowdowns), 0.7, 0.03);
}

TEST(AcceptanceLinks, NoNamesBelowSixHosts) {
  for (const int hosts : {4, 5}) {
    const Launch launch = with_link(test::noise_a(), hosts, 1, 3, slow(0.5));
    EXPECT_EQ(launch.run(1).link_verdict, LinkVerdict::skipped);
  }
}

TEST(AcceptanceLinks, HealthyLaunchesHaveNoBadLinks) {
  int names = 0, open = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const auto& shape : {test::noise_a(), test::noise_b(), test::noise_c()}) {
      Launch launch{shape, 16, {}, {}};
      launch.plan.links = true;
      const Findings found = launch.run(seed);
      names += found.links.empty() ? 0 : 1;
      open += found.link_verdict == LinkVerdict::open ? 1 : 0;
    }
  EXPECT_LE(names, 1);
  EXPECT_LE(open, 15);
}

// An uplink that carries 1 / oversubscription of what a rack's hosts could send, less if slow.
std::function<double(const Round&, int, int)> uplinks(double oversubscription, int rack_hosts,
                                                      int slow_rack, double fraction) {
  return [=](const Round& round, int from, int to) {
    std::map<int, double> senders;
    for (const HostPair& pair : round)
      if (pair.a / rack_hosts != pair.b / rack_hosts) {
        ++senders[pair.a / rack_hosts];
        ++senders[pair.b / rack_hosts];
      }
    const int a = from / rack_hosts, b = to / rack_hosts;
    if (a == b) return 0.0;
    double effect = 0;
    for (const int rack : {a, b}) {
      const double whole = rack_hosts / oversubscription * (rack == slow_rack ? 1 - fraction : 1);
      effect = std::max(effect, std::log(senders[rack] / whole));
    }
    return effect;
  };
}

Launch in_racks(double oversubscription, int slow_rack, double fraction) {
  Launch launch{test::noise_a(),
                64,
                [=](Fabric& fabric) {
                  fabric.contention = uplinks(oversubscription, 16, slow_rack, fraction);
                },
                {}};
  for (int host = 0; host < 64; ++host) launch.plan.rack_of.push_back(host / 16);
  return launch;
}

TEST(AcceptanceRacks, AHostIsNamedByPairsInsideItsRack) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Launch launch = in_racks(4, -1, 0);
    const auto contention = launch.prepare;
    launch.prepare = [&](Fabric& fabric) {
      contention(fabric);
      fabric.bad_hosts = {{20, slow(0.1), slow(0.1)}};
    };
    const Findings found = launch.run(seed);
    EXPECT_EQ(named(found), std::vector<int>{20});
    EXPECT_TRUE(found.uplinks.empty());
  }
}

TEST(AcceptanceRacks, ASlowUplinkIsNamedAndNoHost) {
  for (const double oversubscription : {1.0, 2.0, 4.0})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Findings found = in_racks(oversubscription, 0, 0.3).run(seed);
      EXPECT_TRUE(named(found).empty());
      ASSERT_EQ(found.uplinks.size(), 1u) << oversubscription;
      EXPECT_EQ(found.uplinks[0].rack, 0);
      EXPECT_NEAR(found.uplinks[0].size.slowdown, 0.3, 0.03);
    }
}

TEST(AcceptanceRacks, HealthyRacks) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Findings found = in_racks(2, -1, 0).run(seed);
    EXPECT_FALSE(names_any(found));
    EXPECT_TRUE(found.reasons.empty());
  }
}

}  // namespace
}  // namespace ccl_tests::acceptance
