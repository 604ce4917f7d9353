// Fits of times over sizes: exact ones by hand, noisy ones by how often they find what is there.
#include "src/model/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::Optional;

double one_line(std::size_t bytes) { return 30e-6 + static_cast<double>(bytes) / 6e9; }
// As a library that changes its protocol at 64 KiB.
double two_lines(std::size_t bytes) {
  return bytes < 65536 ? 5e-6 + static_cast<double>(bytes) / 1.5e9 : one_line(bytes);
}

// 24 sizes from 8 B on, each twice the one before.
std::vector<SizeTime> sweep(const std::function<double(std::size_t)>& seconds,
                            double sigma = 0.01) {
  std::vector<SizeTime> points;
  for (int k = 3; k < 27; ++k) {
    const std::size_t bytes = std::size_t{1} << k;
    points.push_back({bytes, seconds(bytes), sigma});
  }
  return points;
}

// 3 % noise, and 4 % of the times half as long again.
std::vector<SizeTime> noisy(std::vector<SizeTime> points, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (SizeTime& point : points) {
    point.seconds *= 1 + 0.03 * normal(random);
    if (uniform(random) < 0.04) point.seconds *= 1.5;
  }
  return points;
}

TEST(Fit, RecoversALineExactly) {
  const FitResult found = fit_times(sweep(one_line));
  ASSERT_TRUE(found.fit) << found.refusal;
  ASSERT_EQ(found.fit->segments.size(), 1U);
  const Segment& segment = found.fit->segments[0];
  EXPECT_NEAR(segment.alpha.value, 30e-6, 1e-12);
  EXPECT_NEAR(segment.beta.value * 6e9, 1, 1e-9);
  EXPECT_EQ(segment.first_bytes, 8U);
  EXPECT_EQ(segment.last_bytes, 1U << 26);
  EXPECT_THAT(segment.half_bandwidth_bytes(), Optional(testing::DoubleNear(180e3, 1e-3)));
  EXPECT_LT(found.fit->largest_error, 1e-9);
  EXPECT_TRUE(found.fit->above.empty());
}

TEST(Fit, RecoversTwoLinesExactly) {
  const FitResult found = fit_times(sweep(two_lines));
  ASSERT_TRUE(found.fit) << found.refusal;
  ASSERT_EQ(found.fit->segments.size(), 2U);
  EXPECT_EQ(found.fit->segments[0].last_bytes, 32768U);
  EXPECT_EQ(found.fit->segments[1].first_bytes, 65536U);
  EXPECT_NEAR(found.fit->segments[0].alpha.value, 5e-6, 1e-12);
  EXPECT_NEAR(found.fit->segments[1].beta.value * 6e9, 1, 1e-9);
  EXPECT_NEAR(found.fit->at(32768), two_lines(32768), 1e-12);
  EXPECT_NEAR(found.fit->at(65536), two_lines(65536), 1e-12);
}

TEST(Fit, OfTimesThatDoNotGrowHasNoHalfBandwidth) {
  const FitResult found = fit_times(sweep([](std::size_t) { return 2e-6; }));
  ASSERT_TRUE(found.fit);
  EXPECT_NEAR(found.fit->segments[0].alpha.value, 2e-6, 1e-15);
  EXPECT_EQ(found.fit->segments[0].half_bandwidth_bytes(), std::nullopt);
}

// Never below 0, which would be a time that falls with the size or begins before the call.
TEST(Fit, ClampsWhatWouldBeNegative) {
  const FitResult falling = fit_times(
      sweep([](std::size_t bytes) { return 1e-6 / (1 + 1e-9 * static_cast<double>(bytes)); }));
  ASSERT_TRUE(falling.fit) << falling.refusal;
  for (const Segment& segment : falling.fit->segments) EXPECT_GE(segment.beta.value, 0);
  const FitResult early = fit_times({{1000, 0.9e-6}, {2000, 2e-6}, {3000, 3.1e-6}, {4000, 4.2e-6}});
  ASSERT_TRUE(early.fit) << early.refusal;
  EXPECT_EQ(early.fit->segments[0].alpha.value, 0);
}

TEST(Fit, FindsOneLineInNoise) {
  int split = 0;
  int refused = 0;
  double beta = 0;
  constexpr int runs = 200;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const FitResult found = fit_times(noisy(sweep(one_line), seed));
    if (!found.fit) {
      ++refused;
      continue;
    }
    if (found.fit->segments.size() > 1) ++split;
    beta += found.fit->segments.back().beta.value;
  }
  EXPECT_LE(split, 10);
  EXPECT_LE(refused, 20);
  EXPECT_NEAR(beta / (runs - refused) * 6e9, 1, 0.02);
}

TEST(Fit, FindsTwoLinesInNoise) {
  int two = 0;
  int near = 0;
  constexpr int runs = 200;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const FitResult found = fit_times(noisy(sweep(two_lines, 0.03), seed));
    if (!found.fit || found.fit->segments.size() != 2) continue;
    ++two;
    const std::size_t last = found.fit->segments[0].last_bytes;
    if (last >= 16384 && last <= 65536) ++near;
  }
  EXPECT_GE(two, 170);
  EXPECT_GE(near, two * 9 / 10);
}

TEST(Fit, HasIntervalsThatHoldTheTruth) {
  int holds = 0;
  constexpr int runs = 100;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int run = 0; run < runs; ++run) {
    std::vector<SizeTime> points = sweep(one_line, 0.03);
    for (SizeTime& point : points) point.seconds *= 1 + 0.03 * normal(random);
    const FitResult found = fit_times(points);
    ASSERT_TRUE(found.fit);
    const Interval& beta = found.fit->segments.back().beta;
    if (beta.low * 6e9 <= 1 && beta.high * 6e9 >= 1) ++holds;
  }
  EXPECT_GE(holds, 88);
}

TEST(Fit, IsTheSameInEveryCall) {
  const auto points = noisy(sweep(two_lines), 7);
  EXPECT_EQ(fit_times(points).fit->segments[0].alpha.low,
            fit_times(points).fit->segments[0].alpha.low);
}

TEST(Fit, NamesTheTimeThatStandsOut) {
  std::vector<SizeTime> points = sweep(one_line);
  points[13].seconds *= 3.1;
  const FitResult found = fit_times(points);
  ASSERT_TRUE(found.fit) << found.refusal;
  ASSERT_EQ(found.fit->above.size(), 1U);
  EXPECT_EQ(found.fit->above[0].bytes, 65536U);
  EXPECT_NEAR(found.fit->above[0].ratio, 3.1, 0.05);
  EXPECT_LT(found.fit->largest_error, 0.02);
}

TEST(Fit, TakesTheMiddleOfSeveralTimesOfASize) {
  std::vector<SizeTime> points = sweep(one_line);
  for (const SizeTime& point : sweep(one_line)) {
    points.push_back({point.bytes, point.seconds * 9, 0.01});
    points.push_back({point.bytes, point.seconds * 0.5, 0.01});
  }
  const FitResult found = fit_times(points);
  ASSERT_TRUE(found.fit) << found.refusal;
  EXPECT_LT(found.fit->largest_error, 1e-9);
}

TEST(Fit, OfManySizesTakesSomeAndJudgesAll) {
  std::vector<SizeTime> points;
  for (std::size_t k = 1; k <= 5000; ++k) points.push_back({k * 64, one_line(k * 64), 0.01});
  points[2501].seconds *= 2;
  const FitResult found = fit_times(points);
  ASSERT_TRUE(found.fit) << found.refusal;
  ASSERT_EQ(found.fit->above.size(), 1U);
  EXPECT_EQ(found.fit->above[0].bytes, 2502U * 64);
}

TEST(Fit, IsRefusedWhereItWouldSayNothing) {
  EXPECT_THAT(fit_times({}).refusal, HasSubstr("needs 4 sizes and has 0"));
  EXPECT_THAT(fit_times({{8, 1e-6}}).refusal, HasSubstr("4 sizes and has 1"));
  const std::vector<SizeTime> equal(10, {8, 1e-6, 0.01});
  EXPECT_THAT(fit_times(equal).refusal, HasSubstr("needs 4 sizes"));
  EXPECT_THAT(fit_times(sweep([](std::size_t) { return 0.0; })).refusal,
              HasSubstr("needs 4 sizes"));
  EXPECT_THAT(fit_times(sweep([](std::size_t) { return std::nan(""); })).refusal,
              HasSubstr("needs 4 sizes"));
  EXPECT_THAT(fit_times({{0, 1e-6}, {8, 1e-6}, {16, 1e-6}, {32, 1e-6}}).refusal,
              HasSubstr("4 sizes and has 3"));
  std::mt19937_64 random(3);
  const FitResult scattered = fit_times(sweep(
      [&](std::size_t) { return std::uniform_real_distribution<double>(1e-6, 1e-4)(random); }));
  EXPECT_FALSE(scattered.fit);
  EXPECT_THAT(scattered.refusal, HasSubstr("no line describes them"));
}

}  // namespace
}  // namespace ccl_tests
