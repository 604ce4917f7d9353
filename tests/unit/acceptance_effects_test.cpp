// The fit of the hosts' effects, and what the screen makes of it.
#include <gtest/gtest.h>

#include <cmath>

#include "src/measure/statistics.hpp"
#include "tests/unit/acceptance_noise.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::Fabric;
using test::first_hosts;
using test::ShapedNoise;
using test::slow;

std::vector<std::vector<PairTimes>> measure(Fabric& fabric, int hosts, int rounds, Random& random) {
  std::vector<std::vector<PairTimes>> measured;
  Tournaments source(first_hosts(hosts), random);
  for (int i = 0; i < rounds; ++i) measured.push_back(fabric.measure(source.next()));
  return measured;
}

struct Fitted {
  Effects effects;
  Screen screen;
};
Fitted fit(int hosts, int rounds, const test::NoiseShape& shape, std::uint64_t seed,
           const std::vector<test::BadHost>& bad = {}) {
  Random random(seed);
  ShapedNoise noise(shape, static_cast<std::size_t>(hosts), random);
  Fabric fabric(noise, random);
  fabric.bad_hosts = bad;
  const auto measured = measure(fabric, hosts, rounds, random);
  Fitted fitted;
  const auto seen = observations(measured, Statistic::time, hosts < 6 ? 2 : 1);
  fitted.effects = fit_effects(seen, static_cast<std::size_t>(hosts));
  fitted.screen = screen(seen, fitted.effects, usual_smallest);
  return fitted;
}

TEST(AcceptanceEffects, HealthyHostsWithoutNoiseHaveNone) {
  for (const int hosts : {4, 5, 6, 7, 16, 17, 64}) {
    const Fitted fitted = fit(hosts, 20, test::quiet(), 1);
    EXPECT_TRUE(fitted.screen.suspects.empty());
    EXPECT_TRUE(fitted.screen.said_enough);
    EXPECT_FALSE(fitted.screen.grouped || fitted.screen.someone_fast || fitted.screen.fast_pairs);
    EXPECT_NEAR(fitted.effects.sigma, 0, 1e-12);
    for (const Studentised& way : fitted.screen.way)
      for (const double z : way.z) EXPECT_NEAR(z, 0, 1e-9);
  }
}

TEST(AcceptanceEffects, FindsOneBadHostExactly) {
  for (const int hosts : {4, 5, 6, 7, 16, 17, 64}) {
    const Fitted both = fit(hosts, 20, test::quiet(), 2, {{1, slow(0.5), slow(0.5)}});
    // Of five hosts, of which one is idle, three sweeps do not reach the exact solution.
    const double tolerance = hosts == 5 ? 0.1 : 1e-9;
    EXPECT_NEAR(both.effects.sending[1], std::log(2), tolerance) << hosts;
    EXPECT_NEAR(both.effects.receiving[1], std::log(2), tolerance) << hosts;
    EXPECT_EQ(both.screen.suspects, (std::vector<int>{1})) << hosts;
    const Fitted one_way = fit(hosts, 20, test::quiet(), 2, {{1, slow(0.5), 0}});
    EXPECT_NEAR(one_way.effects.sending[1], std::log(2), 1e-9) << hosts;
    EXPECT_NEAR(one_way.effects.receiving[1], 0, 1e-9) << hosts;
    EXPECT_EQ(one_way.screen.suspects, (std::vector<int>{1})) << hosts;
  }
}

TEST(AcceptanceEffects, SigmaIsThatOfTheNoise) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::NoiseShape shape = test::noise_a();
    shape.host_spread = 0;
    sum += fit(16, 20, shape, seed).effects.sigma;
  }
  EXPECT_NEAR(sum / 20, 0.014, 0.001);  // a median polish leaves less than least squares do
}

TEST(AcceptanceEffects, StandardErrorIsThatOfTheEffects) {
  double squares = 0, expected = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::NoiseShape shape = test::noise_b();
    shape.host_spread = 0;
    const Fitted fitted = fit(64, 12, shape, seed);
    for (const double effect : fitted.effects.sending) squares += effect * effect / 64 / 20;
    expected += fitted.screen.way[index(Way::sending)].error / 20;
  }
  EXPECT_NEAR(std::sqrt(squares) / expected, 1, 0.12);
}

// A shaper that lets a burst pass makes some messages of any pair faster; good hosts among bad ones
// are fast in each round.
TEST(AcceptanceEffects, FastPairsAreThoseThatAreAlwaysFast) {
  const test::NoiseShape bursts = {
      .name = "bursts", .deviation = 0.006, .buffered_share = 0.15, .buffered = slow(0.08)};
  for (const int hosts : {4, 6, 16})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_FALSE(fit(hosts, 20, bursts, seed).screen.fast_pairs) << hosts << " " << seed;
  const std::vector<test::BadHost> four = {{0, slow(0.2), slow(0.2)},
                                           {1, slow(0.2), slow(0.2)},
                                           {3, slow(0.2), slow(0.2)},
                                           {4, slow(0.2), slow(0.2)}};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_TRUE(fit(6, 20, bursts, seed, four).screen.fast_pairs) << seed;
}

TEST(AcceptanceEffects, NothingAndTooLittle) {
  const Effects none = fit_effects({}, 6);
  EXPECT_FALSE(std::isfinite(none.sigma));
  EXPECT_FALSE(screen({}, none, usual_smallest).said_enough);
  const Fitted one_round = fit(6, 1, test::noise_a(), 1);
  EXPECT_FALSE(one_round.screen.said_enough);
  EXPECT_TRUE(one_round.screen.suspects.empty());
}

TEST(AcceptanceEffects, MissingValuesAreLeftOut) {
  Transfer transfer;
  EXPECT_FALSE(value_of(transfer, Statistic::time));
  transfer.seconds = std::nan("");
  EXPECT_FALSE(value_of(transfer, Statistic::time));
  transfer.seconds = 1;
  EXPECT_EQ(value_of(transfer, Statistic::time), 0);
  EXPECT_FALSE(value_of(transfer, Statistic::tail));
  transfer.p50 = 1;
  transfer.p95 = std::exp(1);
  EXPECT_NEAR(*value_of(transfer, Statistic::tail), 1, 1e-12);
}

TEST(AcceptanceScreen, RoundsFollowTheNoise) {
  EXPECT_EQ(rounds_needed(0.015, 0.1, 64), 8u);
  EXPECT_EQ(rounds_needed(0.048, 0.1, 64), 12u);
  EXPECT_EQ(rounds_needed(0.07, 0.1, 64), 25u);
  EXPECT_EQ(rounds_needed(0.5, 0.1, 64), 64u);
  EXPECT_EQ(rounds_needed(INFINITY, 0.1, 64), 64u);
  EXPECT_EQ(rounds_needed(0.015, 0.1, 16), 20u);
  EXPECT_EQ(rounds_needed(0.07, 0.1, 6), 50u);
}

TEST(AcceptanceScreen, SeesWhatItsRoundsWereMadeFor) {
  for (const double sigma : {0.05, 0.07, 0.1}) {
    const std::size_t rounds = rounds_needed(sigma, 0.1, 64);
    EXPECT_LE(detectable(sigma, rounds, 64, usual_smallest).both_ways, 0.1) << sigma;
  }
  EXPECT_GT(detectable(0.2, 64, 64, usual_smallest).both_ways, 0.1);
  EXPECT_NEAR(detectable(0, 8, 64, usual_smallest).one_way, 0.063, 0.001);
}

TEST(AcceptanceScreen, QuantilesOfTheNormalDistribution) {
  EXPECT_NEAR(normal_quantile_above(0.5), 0, 1e-9);
  EXPECT_NEAR(normal_quantile_above(0.025), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile_above(1e-5), 4.264891, 1e-6);
}

}  // namespace
}  // namespace ccl_tests::acceptance
