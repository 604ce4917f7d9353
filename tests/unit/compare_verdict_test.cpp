// What pairs and single runs say about a row.
#include <gtest/gtest.h>

#include "tests/unit/compare_samples.hpp"
#include "tools/compare/pairs.hpp"

namespace ccl_tests::compare {
namespace {

using test::single;
using test::with_ratios;

constexpr double threshold = 0.05;

RowResult judged(const std::vector<double>& ratios, std::size_t tests = 0) {
  return judge(with_ratios(ratios), threshold, {.tests = tests}).at(0);
}

TEST(CompareVerdict, Slower) {
  const RowResult row = judged(std::vector<double>(12, 1.3));
  EXPECT_EQ(row.verdict, RowVerdict::slower);
  EXPECT_EQ(verdict_text(row), "slower");
  EXPECT_NEAR(row.ratio, 1.3, 1e-12);
  EXPECT_NEAR(*row.p_slower, 1.0 / 4096, 1e-12);
  EXPECT_DOUBLE_EQ(*row.p_faster, 1);
  EXPECT_TRUE(row.flagged);
  EXPECT_EQ(row.pairs, 12U);
}

TEST(CompareVerdict, FasterIsTheMirrorOfSlower) {
  const RowResult row = judged(std::vector<double>(12, 1 / 1.3));
  EXPECT_EQ(row.verdict, RowVerdict::faster);
  EXPECT_NEAR(*row.p_faster, 1.0 / 4096, 1e-12);
}

TEST(CompareVerdict, ToleratesTwoOfTwelveOppositePairs) {
  std::vector<double> ratios(12, 1.3);
  ratios[3] = ratios[7] = 0.5;
  EXPECT_EQ(judged(ratios).verdict, RowVerdict::slower);  // 79 / 4096
  ratios[8] = 0.5;
  EXPECT_EQ(judged(ratios).verdict, RowVerdict::inconclusive);  // 299 / 4096
}

TEST(CompareVerdict, CorrectsForRowsThatAreMissing) {
  std::vector<double> ratios(12, 1.3);
  ratios[3] = 0.5;                                                  // 13 / 4096
  EXPECT_EQ(judged(ratios, 15).verdict, RowVerdict::slower);        // 0.048
  EXPECT_EQ(judged(ratios, 16).verdict, RowVerdict::inconclusive);  // 0.051
}

TEST(CompareVerdict, ASmallDifferenceIsNeitherSlowerNorDoubtful) {
  EXPECT_EQ(judged(std::vector<double>(12, 1.02)).verdict, RowVerdict::same);
  EXPECT_EQ(judged(std::vector<double>(12, 0.98)).verdict, RowVerdict::same);
  EXPECT_FALSE(judged(std::vector<double>(12, 1.02)).flagged);
}

TEST(CompareVerdict, SameNeedsAllOfTheInterval) {
  std::vector<double> ratios(12, 1.0);
  ratios[0] = ratios[1] = 1.2;  // beyond the interval of the third to the tenth
  EXPECT_EQ(judged(ratios).verdict, RowVerdict::same);
  ratios[2] = 1.2;
  EXPECT_EQ(judged(ratios).verdict, RowVerdict::inconclusive);
}

// As a gate asks: by less than the threshold, however fast it may be.
TEST(CompareVerdict, NotSlowerNeedsTheUpperSideAlone) {
  std::vector<double> ratios = {0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1.02, 1.04, 1.2, 1.3};
  const RowResult row = judged(ratios);  // 10 of 12 below 1.05: 79 / 4096
  EXPECT_EQ(row.verdict, RowVerdict::not_slower);
  EXPECT_EQ(verdict_text(row), "not slower");
  ratios[9] = 1.1;
  EXPECT_EQ(judged(ratios).verdict, RowVerdict::inconclusive);  // 299 / 4096
}

TEST(CompareVerdict, FewPairsDecideNothing) {
  const RowResult row = judged({1.3, 1.3, 1.3, 1.3});
  EXPECT_EQ(row.verdict, RowVerdict::inconclusive);
  EXPECT_FALSE(row.interval);
  EXPECT_EQ(judged({1, 1, 1, 1}).verdict, RowVerdict::inconclusive);
}

TEST(CompareVerdict, FlagsByTheMedianRatio) {
  EXPECT_TRUE(flag(with_ratios({1.049, 1.049}), threshold).empty());
  EXPECT_EQ(flag(with_ratios({1.06, 1.05}), threshold).size(), 1U);
  EXPECT_EQ(flag(with_ratios({0.94, 0.95}), threshold).size(), 1U);
  EXPECT_TRUE(flag(with_ratios({1.3, 0.77}), threshold).empty());
}

TEST(CompareVerdict, ScreenedRowsAreUndecidedIfFlagged) {
  const Matched screen = with_ratios({1.3, 1.3});
  EXPECT_EQ(screened(screen, {}).at(0).verdict, RowVerdict::unflagged);
  const RowResult row = screened(screen, {test::key(8)}).at(0);
  EXPECT_EQ(row.verdict, RowVerdict::inconclusive);
  EXPECT_TRUE(row.flagged);
}

RowResult hinted(RowTime base, RowTime head) { return hint(single(base, head), threshold).at(0); }

TEST(CompareHint, SlowerIfIntervalsDoNotTouch) {
  const RowResult row = hinted({1, Interval{0.98, 1.02}}, {1.1, Interval{1.07, 1.13}});
  EXPECT_EQ(row.verdict, RowVerdict::slower);
  EXPECT_EQ(verdict_text(row), "slower?");
  EXPECT_NEAR(row.interval->low, 1.07 / 1.02, 1e-12);
  EXPECT_NEAR(row.interval->high, 1.13 / 0.98, 1e-12);
  EXPECT_EQ(verdict_text(hinted({1.1, Interval{1.07, 1.13}}, {1, Interval{0.98, 1.02}})),
            "faster?");
}

TEST(CompareHint, NothingIfIntervalsTouchOrTheRatioIsSmall) {
  EXPECT_EQ(hinted({1, Interval{0.9, 1.1}}, {1.1, Interval{1.05, 1.2}}).verdict,
            RowVerdict::inconclusive);
  EXPECT_EQ(hinted({1, Interval{0.999, 1.001}}, {1.02, Interval{1.019, 1.021}}).verdict,
            RowVerdict::same);
}

TEST(CompareHint, BatchesHaveNoIntervals) {
  const RowResult row = hinted({1, {}}, {2, {}});
  EXPECT_EQ(row.verdict, RowVerdict::inconclusive);
  EXPECT_FALSE(row.interval);
}

}  // namespace
}  // namespace ccl_tests::compare
