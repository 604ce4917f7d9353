// How often the right hosts are named, and others, in launches from fixed seeds. The tables behind
// the limits are those of tests/bench/acceptance_truth.cpp.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/acceptance_noise.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::BadHost;
using test::Fabric;
using test::Launch;
using test::named;
using test::slow;

struct Count {
  int right = 0, wrong = 0, inconclusive = 0, suspects = 0;
};
Count run(const Launch& launch, const std::vector<int>& bad, int launches) {
  Count count;
  for (int seed = 0; seed < launches; ++seed) {
    const Findings found = launch.run(static_cast<std::uint64_t>(seed));
    const std::vector<int> names = named(found);
    count.right += names == bad ? 1 : 0;
    count.wrong += std::includes(bad.begin(), bad.end(), names.begin(), names.end()) ? 0 : 1;
    count.inconclusive += found.reasons.empty() ? 0 : 1;
    count.suspects += static_cast<int>(found.suspects.size());
  }
  return count;
}

Launch with(const test::NoiseShape& shape, int hosts, std::vector<BadHost> bad) {
  return {shape, hosts, [bad](Fabric& fabric) { fabric.bad_hosts = bad; }, {}};
}

TEST(AcceptancePower, FindsTenPercentBothWays) {
  for (const auto& shape : {test::noise_a(), test::noise_b(), test::noise_c()}) {
    const Count count = run(with(shape, 64, {{9, slow(0.1), slow(0.1)}}), {9}, 200);
    EXPECT_GE(count.right, 190) << shape.name;
    EXPECT_LE(count.wrong, 2) << shape.name;
  }
}

TEST(AcceptancePower, FindsTenPercentOneWay) {
  const Count count = run(with(test::noise_b(), 64, {{9, slow(0.1), 0}}), {9}, 100);
  EXPECT_GE(count.right, 90);
  EXPECT_LE(count.wrong, 1);
}

TEST(AcceptancePower, HealthyLaunchesNameNobody) {
  for (const int hosts : {6, 16})
    for (const auto& shape : {test::noise_a(), test::noise_b(), test::noise_c()}) {
      const Count count = run({shape, hosts, {}, {}}, {}, 1000);
      EXPECT_LE(count.wrong, 2) << hosts << shape.name;
      EXPECT_LE(count.inconclusive, 60) << hosts << shape.name;
    }
  const Count many = run({test::noise_b(), 64, {}, {}}, {}, 500);
  EXPECT_LE(many.wrong, 1);
  EXPECT_LE(many.inconclusive, 25);
  EXPECT_GE(many.suspects, 150) << "the screen is lax on purpose";
  EXPECT_LE(many.suspects, 350);
}

// Back to back, drift of hosts looks as slow hosts do; far apart it does not.
TEST(AcceptancePower, DriftNamesFewHosts) {
  Launch launch{test::noise_d(), 16, {}, {}};
  EXPECT_LE(run(launch, {}, 1000).wrong, 14);
  launch.later = 30;
  EXPECT_LE(run(launch, {}, 1000).wrong, 4);
  launch.prepare = [](Fabric& fabric) { fabric.apart = 30; };
  EXPECT_LE(run(launch, {}, 1000).wrong, 2);
}

// Rank 0's host takes part like the others.
TEST(AcceptancePower, SuspectsAreSpreadOverHosts) {
  constexpr std::size_t hosts = 16;
  const Launch launch{test::noise_b(), hosts, {}, {}};
  std::vector<double> suspected(hosts);
  double all = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const int host : launch.run(seed).suspects) {
      ++suspected[static_cast<std::size_t>(host)];
      ++all;
    }
  EXPECT_GT(all, 100);
  double chi_square = 0;
  for (const double count : suspected)
    chi_square += (count - all / hosts) * (count - all / hosts) / (all / hosts);
  EXPECT_LT(chi_square, 37.7);  // 99.9 % of 15 degrees of freedom
}

}  // namespace
}  // namespace ccl_tests::acceptance
