// Faults that show from some number of hosts on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/measure/statistics.hpp"
#include "tests/unit/acceptance_noise.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

// Hosts of which the bad ones slow down every set of at least `needs` hosts.
struct Scale {
  int hosts = 0;
  std::size_t needs = 0;
  int bad = 0;
  double sigma = 0;
};

bool contains_bad(const Scale& scale, const std::vector<int>& set) {
  return std::any_of(set.begin(), set.end(), [&](int host) { return host < scale.bad; });
}

PrefixFindings search(const Scale& scale, std::uint64_t seed, int& tests) {
  Random random(seed), noise(seed + 1000);
  const std::size_t repeats = repeats_per_test(scale.sigma, 0.1);
  return prefix_search(
      [&](const std::vector<int>& set) {
        ++tests;
        const bool slow = set.size() >= scale.needs && contains_bad(scale, set);
        std::vector<double> effects;
        for (std::size_t i = 0; i < repeats; ++i)
          effects.push_back((slow ? test::slow(0.1) : 0) + scale.sigma * test::normal(noise));
        return median(effects) <= test::slow(0.1) / 2;
      },
      test::first_hosts(scale.hosts), random);
}

struct Score {
  int exact = 0, wrong = 0;
  double tests = 0;  // in the mean
};
Score score(const Scale& scale, int launches) {
  Score sum;
  for (int seed = 0; seed < launches; ++seed) {
    int tests = 0;
    PrefixFindings found = search(scale, static_cast<std::uint64_t>(seed), tests);
    std::sort(found.named.begin(), found.named.end());
    sum.exact += found.named == test::first_hosts(scale.bad) ? 1 : 0;
    sum.wrong += std::any_of(found.named.begin(), found.named.end(),
                             [&](int host) { return host >= scale.bad; })
                     ? 1
                     : 0;
    sum.tests += static_cast<double>(tests) / launches;
  }
  return sum;
}

TEST(AcceptancePrefix, NamesWhoFailsFrom32HostsOn) {
  const Score one = score({232, 32, 1, 0.015}, 60);
  EXPECT_GE(one.exact, 59);
  EXPECT_EQ(one.wrong, 0);
  EXPECT_LE(one.tests, 20);
  const Score three = score({232, 32, 3, 0.015}, 60);
  EXPECT_GE(three.exact, 57);
  EXPECT_EQ(three.wrong, 0);
  EXPECT_LE(three.tests, 60);
}

TEST(AcceptancePrefix, NamesWhoFailsFromThreeQuartersOn) {
  const Score found = score({64, 48, 1, 0.015}, 60);
  EXPECT_GE(found.exact, 58);
  EXPECT_EQ(found.wrong, 0);
  EXPECT_LE(found.tests, 40);
}

TEST(AcceptancePrefix, NoiseAsksForRepeats) {
  EXPECT_EQ(repeats_per_test(0.015, 0.1), 2u);
  EXPECT_EQ(repeats_per_test(0.05, 0.1), 16u);
  EXPECT_EQ(repeats_per_test(0.05, 0.2), 4u);
  EXPECT_EQ(repeats_per_test(0, 0.1), 1u);
  const Score found = score({64, 32, 1, 0.05}, 40);
  EXPECT_GE(found.exact, 38);
  EXPECT_EQ(found.wrong, 0);
}

TEST(AcceptancePrefix, SaysWhenNoHostIsIsolated) {
  Random random(1);
  const PrefixFindings all = prefix_search(
      [](const std::vector<int>& set) { return set.size() < 32; }, test::first_hosts(64), random);
  EXPECT_TRUE(all.named.empty());
  EXPECT_EQ(all.fails_from, 32u);
  int tests = 0;
  const PrefixFindings none = prefix_search([&](const std::vector<int>&) { return ++tests > 0; },
                                            test::first_hosts(64), random);
  EXPECT_EQ(tests, 1);
  EXPECT_EQ(none.fails_from, 0u);
}

TEST(AcceptancePrefix, FewHosts) {
  Random random(1);
  for (const int hosts : {0, 1, 2, 3, 4}) {
    const PrefixFindings found = prefix_search(
        [](const std::vector<int>& set) {
          return std::find(set.begin(), set.end(), 0) == set.end();
        },
        test::first_hosts(hosts), random);
    EXPECT_LE(found.named.size(), 1u);
    for (const int host : found.named) EXPECT_EQ(host, 0);
  }
}

}  // namespace
}  // namespace ccl_tests::acceptance
