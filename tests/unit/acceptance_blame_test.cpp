// Who is named: single scenarios, from made-up rounds.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/acceptance_noise.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::BadHost;
using test::Fabric;
using test::hosts_with;
using test::Launch;
using test::named;
using test::names_any;
using test::says;
using test::slow;
using Hosts = std::vector<int>;

std::function<void(Fabric&)> with(std::vector<BadHost> bad) {
  return [bad](Fabric& fabric) { fabric.bad_hosts = bad; };
}

// The first `count` hosts, slow both ways by `fraction`.
std::vector<BadHost> first_slow(int count, double fraction) {
  std::vector<BadHost> bad;
  for (int host = 0; host < count; ++host) bad.push_back({host, slow(fraction), slow(fraction)});
  return bad;
}

// A launch of which some times are shorter.
class Buffered : public PairMeasurer {
 public:
  Buffered(Fabric& inner, std::function<double()> factor)
      : inner_(inner), factor_(std::move(factor)) {}
  std::vector<PairTimes> measure(const Round& round) override {
    std::vector<PairTimes> times = inner_.measure(round);
    for (PairTimes& pair : times) {
      pair.forward.seconds *= factor_();
      pair.backward.seconds *= factor_();
    }
    return times;
  }

 private:
  Fabric& inner_;
  std::function<double()> factor_;
};

// Rounds of short operations, and of longer ones once they are asked for.
class Growing : public PairMeasurer {
 public:
  Growing(PairMeasurer& brief, PairMeasurer& lasting) : brief_(brief), lasting_(lasting) {}
  std::vector<PairTimes> measure(const Round& round) override {
    return (grown_ ? lasting_ : brief_).measure(round);
  }
  bool enlarge() override { return !std::exchange(grown_, true); }
  bool grown() const { return grown_; }

 private:
  PairMeasurer& brief_;
  PairMeasurer& lasting_;
  bool grown_ = false;
};

// One launch whose short operations have noise of `brief_deviation`, and whose longer ones have that of a quiet cluster.
Findings grown_search(double brief_deviation, std::uint64_t seed, bool& grown) {
  constexpr int hosts = 4;
  Random random(seed * 2 + 1);
  test::NoiseShape shape = test::noise_a();
  test::ShapedNoise quiet(shape, hosts, random);
  shape.deviation = brief_deviation;
  test::ShapedNoise noise(shape, hosts, random);
  Fabric brief(noise, random), lasting(quiet, random);
  brief.bad_hosts = lasting.bad_hosts = {{2, slow(0.5), slow(0.5)}};
  Growing measurer(brief, lasting);
  SearchPlan plan;
  plan.seed = seed;
  const Findings found = find_bad_hosts(measurer, hosts, plan);
  grown = measurer.grown();
  return found;
}

TEST(AcceptanceBlame, LongerOperationsWhereNoiseHidesTheSlowdown) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    bool grown = false;
    const Findings found = grown_search(0.45, seed, grown);
    EXPECT_TRUE(grown) << seed;
    EXPECT_EQ(named(found), Hosts{2}) << seed;
    EXPECT_TRUE(found.reasons.empty()) << seed;
    EXPECT_LT(found.sigma, 0.05) << seed << ": rounds of both lengths were mixed";
    EXPECT_GE(found.rounds, found.screened) << seed;
    grown_search(0.015, seed, grown);
    EXPECT_FALSE(grown) << seed;
  }
}

TEST(AcceptanceBlame, LongerOperationsWhereABufferTakesSome) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed * 2 + 1);
    test::ShapedNoise noise(test::noise_a(), 4, random);
    Fabric brief(noise, random), lasting(noise, random);
    std::size_t calls = 0;
    Buffered buffered(brief, [&] { return ++calls * 7 % 10 < 3 ? 0.5 : 1.0; });
    Growing measurer(buffered, lasting);
    SearchPlan plan;
    plan.seed = seed;
    const Findings found = find_bad_hosts(measurer, 4, plan);
    EXPECT_TRUE(measurer.grown()) << seed;
    EXPECT_TRUE(found.reasons.empty()) << seed;
    EXPECT_FALSE(names_any(found)) << seed;
    Buffered alone(brief, [&] { return ++calls * 7 % 10 < 3 ? 0.5 : 1.0; });
    EXPECT_TRUE(says(find_bad_hosts(alone, 4, plan), Reason::some_are_faster))
        << seed << ": they cannot grow";
  }
}

TEST(AcceptanceBlame, HealthyHostsWithoutNoise) {
  for (const int hosts : {4, 5, 6, 16, 17, 64}) {
    const Findings found = Launch{test::quiet(), hosts, {}, {}}.run(1);
    EXPECT_FALSE(names_any(found)) << hosts;
    EXPECT_TRUE(found.reasons.empty()) << hosts;
    EXPECT_EQ(found.rounds, found.screened) << hosts;
    EXPECT_NEAR(found.median_seconds, 0.001, 1e-9);
    EXPECT_FALSE(found.looked_for_intermittent);
  }
}

TEST(AcceptanceBlame, NamesOneHostWithRoleAndSize) {
  const std::vector<std::pair<BadHost, Way>> cases = {{{2, slow(0.5), slow(0.5)}, Way::both},
                                                      {{2, slow(0.5), 0}, Way::sending},
                                                      {{2, 0, slow(0.5)}, Way::receiving}};
  for (const int hosts : {4, 5, 6, 7, 16, 64})
    for (const auto& [bad, way] : cases) {
      const Findings found = Launch{test::quiet(), hosts, with({bad}), {}}.run(3);
      ASSERT_EQ(named(found), Hosts{2}) << hosts;
      const HostFinding& finding = found.hosts[2];
      EXPECT_EQ(finding.slow_at, way) << hosts;
      EXPECT_FALSE(finding.intermittent);
      EXPECT_NEAR(finding.size.slowdown, 0.5, 0.001);
      EXPECT_LE(finding.size.low, finding.size.slowdown);
      EXPECT_GE(finding.size.high, finding.size.slowdown);
      EXPECT_EQ(found.rounds, found.screened + 16) << "two confirmations of 8 rounds";
      EXPECT_TRUE(found.reasons.empty());
    }
}

// Who asks for 50 % does not want to lose hosts that are 20 % slower.
TEST(AcceptanceBlame, WhatIsFarBelowThePlansSlowdownIsNotNamed) {
  const auto names = [](double slowdown) {
    Launch launch{test::noise_a(), 16, with({{5, slow(slowdown), slow(slowdown)}}), {}};
    launch.plan.slowdown = 0.5;
    return named(launch.run(3));
  };
  EXPECT_TRUE(names(0.07).empty());
  EXPECT_TRUE(names(0.22).empty());
  EXPECT_EQ(names(0.5), std::vector<int>{5});
}

TEST(AcceptanceBlame, TwoBadHostsThatMeet) {
  const Findings found = Launch{
      test::quiet(),
      16,
      with({{3, slow(0.2), slow(0.2)}, {9, slow(0.5), slow(0.5)}}),
      {}}.run(1);
  EXPECT_EQ(named(found), (Hosts{3, 9}));
  EXPECT_NEAR(found.hosts[3].size.slowdown, 0.2, 0.001);
  EXPECT_NEAR(found.hosts[9].size.slowdown, 0.5, 0.001);
}

TEST(AcceptanceBlame, AThirdAtMostIsNamed) {
  EXPECT_EQ(named(Launch{test::noise_a(), 16, with(first_slow(5, 0.2)), {}}.run(1)),
            (Hosts{0, 1, 2, 3, 4}));
  for (const int count : {6, 7}) {
    const Findings found = Launch{test::noise_a(), 16, with(first_slow(count, 0.2)), {}}.run(1);
    EXPECT_FALSE(names_any(found)) << count;
    EXPECT_TRUE(says(found, Reason::too_many_suspects)) << count;
  }
  const Findings half = Launch{test::noise_a(), 16, with(first_slow(8, 0.2)), {}}.run(1);
  EXPECT_FALSE(names_any(half));
  EXPECT_TRUE(says(half, Reason::hosts_form_groups));
  const Findings most = Launch{test::noise_a(), 16, with(first_slow(12, 0.2)), {}}.run(1);
  EXPECT_FALSE(names_any(most));
  EXPECT_TRUE(says(most, Reason::some_are_faster) || says(most, Reason::hosts_form_groups));
}

TEST(AcceptanceBlame, OnlyTheMedianTimeShowsThatAllAreSlow) {
  const Findings found = Launch{test::noise_a(), 16, with(first_slow(16, 0.2)), {}}.run(1);
  EXPECT_GT(found.median_seconds, 0.0011);
  EXPECT_LT(found.median_seconds, 0.0015);
  EXPECT_FALSE(names_any(found));
  EXPECT_TRUE(found.reasons.empty());
}

TEST(AcceptanceBlame, TooFewHosts) {
  for (const int hosts : {2, 3}) {
    const Findings found =
        Launch{test::noise_a(), hosts, with({{1, slow(0.5), slow(0.5)}}), {}}.run(1);
    EXPECT_FALSE(names_any(found));
    EXPECT_EQ(found.reasons, (std::vector<Reason>{Reason::too_few_hosts}));
    EXPECT_GT(found.median_seconds, 0.0011);
  }
  for (const int hosts : {0, 1})
    EXPECT_TRUE(says(Launch{test::noise_a(), hosts, {}, {}}.run(1), Reason::nothing_measured));
}

TEST(AcceptanceBlame, FourAndFiveHostsHaveOneNameAtMost) {
  for (const int hosts : {4, 5}) {
    int found_one = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Launch one{test::noise_a(), hosts, with(first_slow(1, 0.2)), {}};
      found_one += named(one.run(seed)) == Hosts{0} ? 1 : 0;
      EXPECT_TRUE(
          named(Launch{test::noise_a(), hosts, with(first_slow(2, 0.2)), {}}.run(seed)).empty());
    }
    EXPECT_GE(found_one, 19) << hosts;
  }
}

TEST(AcceptanceBlame, SixHostsAndOneVerySlow) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const auto& shape : {test::noise_a(), test::noise_b(), test::noise_c()})
      EXPECT_EQ(named(Launch{shape, 6, with({{4, slow(0.7), slow(0.7)}}), {}}.run(seed)), Hosts{4});
}

TEST(AcceptanceBlame, SlowForAWhileIsNotNamed) {
  const Launch launch{test::noise_a(), 16, with({{5, slow(0.3), slow(0.3), 30}}), {}};
  const Findings found = launch.run(1);  // 20 rounds of the screen, 8 of the first confirmation
  EXPECT_FALSE(names_any(found));
  EXPECT_EQ(hosts_with(found, HostVerdict::slow_for_a_while), Hosts{5});
  const Findings early =
      Launch{test::noise_a(), 16, with({{5, slow(0.3), slow(0.3), 20}}), {}}.run(1);
  EXPECT_EQ(hosts_with(early, HostVerdict::healthy).size(), 16u) << "cleared at once";
}

TEST(AcceptanceBlame, LaterIsCalledBetweenTheConfirmations) {
  std::vector<std::size_t> calls;
  Random random(1);
  test::ShapedNoise noise(test::noise_a(), 16, random);
  Fabric fabric(noise, random);
  fabric.bad_hosts = {{5, slow(0.3), slow(0.3)}};
  SearchPlan plan;
  plan.later = [&] { calls.push_back(fabric.planned().size()); };
  EXPECT_EQ(named(find_bad_hosts(fabric, 16, plan)), Hosts{5});
  EXPECT_EQ(calls, (std::vector<std::size_t>{28}));
}

TEST(AcceptanceBlame, AHostThatDiesChangesNoOthersVerdict) {
  for (const int hosts : {6, 16, 17}) {
    const Launch launch{test::noise_a(),
                        hosts,
                        [](Fabric& fabric) {
                          fabric.bad_hosts = {{3, slow(0.3), slow(0.3)}};
                          fabric.dead = {1};
                          fabric.dies = 5;
                        },
                        {}};
    const Findings found = launch.run(2);
    EXPECT_EQ(named(found), Hosts{3}) << hosts;
    EXPECT_EQ(hosts_with(found, HostVerdict::gone), Hosts{1}) << hosts;
    EXPECT_TRUE(says(found, Reason::host_gone));
    EXPECT_EQ(hosts_with(found, HostVerdict::healthy).size(), static_cast<std::size_t>(hosts - 2));
  }
}

TEST(AcceptanceBlame, NoiseThatHidesTheSlowdownIsSaid) {
  test::NoiseShape loud = test::noise_a();
  loud.deviation = 0.3;
  const Findings found = Launch{loud, 16, {}, {}}.run(1);
  EXPECT_FALSE(names_any(found));
  EXPECT_TRUE(says(found, Reason::too_noisy));
  EXPECT_GT(found.detectable.both_ways, 0.1);
}

// One operation of ten is slow: the median does not show it, the 95th percentile does.
TEST(AcceptanceBlame, IntermittentFaultsShowInTheTail) {
  Launch launch{test::noise_a(),
                64,
                [](Fabric& fabric) {
                  fabric.operations = 50;
                  fabric.rare = 11;
                  fabric.rare_effect = slow(0.2);
                },
                {}};
  launch.noise.deviation = 0;
  const Findings found = launch.run(1);
  EXPECT_TRUE(found.looked_for_intermittent);
  EXPECT_EQ(named(found), Hosts{11});
  EXPECT_TRUE(found.hosts[11].intermittent);
  EXPECT_GT(found.hosts[11].size.slowdown, 0.1);
  launch.prepare = [](Fabric& fabric) {
    fabric.operations = 49;
    fabric.rare = 11;
    fabric.rare_effect = slow(0.2);
  };
  const Findings unseen = launch.run(1);
  EXPECT_FALSE(unseen.looked_for_intermittent);
  EXPECT_FALSE(names_any(unseen));
}

TEST(AcceptanceBlame, EveryReasonHasAText) {
  for (int reason = 0; reason <= static_cast<int>(Reason::host_gone); ++reason)
    EXPECT_FALSE(text(static_cast<Reason>(reason)).empty()) << reason;
}

}  // namespace
}  // namespace ccl_tests::acceptance
