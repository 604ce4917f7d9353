// How often sweeps of noisy rows are called slower, from fixed seeds.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/compare_samples.hpp"
#include "tests/unit/noise.hpp"
#include "tools/compare/interleaved.hpp"

namespace ccl_tests::compare {
namespace {

using ::ccl_tests::test::Noise;
using test::key;

constexpr int sweeps = 100;
constexpr std::size_t sweep_rows = 30;
constexpr double run_spread = 0.05;  // of a row's time from run to run

struct Sweep {
  double outliers = 0.15;     // share of runs whose row takes 2 times as long or more
  double slowdown = 1;        // of the head
  std::size_t slow_rows = 0;  // of which it is
  std::size_t pairs = Plan().pairs, most_pairs = 0;
};

// Compares base and head of one sweep.
Comparison compare_sweep(const Sweep& sweep, std::uint64_t seed) {
  Noise noise({.median = 1, .spread = run_spread, .outlier_share = sweep.outliers}, seed);
  Machine machine;
  machine.run = [&](Side side, const std::set<std::size_t>& wanted) {
    RunTimes times;
    for (std::size_t row = 0; row < sweep_rows; ++row) {
      const double slowdown = side == Side::head && row < sweep.slow_rows ? sweep.slowdown : 1;
      const double seconds = noise.next() * slowdown;
      const std::size_t bytes = std::size_t{8} << row;
      if (wanted.empty() || wanted.contains(bytes)) times[key(bytes)] = {seconds, {}};
    }
    return times;
  };
  Plan plan;
  plan.pairs = sweep.pairs;
  plan.most_pairs = sweep.most_pairs;
  return compare_interleaved(machine, plan);
}

// Of `sweeps` sweeps, those with a row that is called slower among those that are, or are not.
struct Found {
  int right = 0, wrong = 0;
};
Found run_sweeps(const Sweep& sweep) {
  Found found;
  for (int seed = 0; seed < sweeps; ++seed) {
    bool right = false, wrong = false;
    for (const RowResult& row : compare_sweep(sweep, static_cast<std::uint64_t>(seed)).rows) {
      if (row.verdict != RowVerdict::slower) continue;
      const bool slow = row.key.bytes < std::size_t{8} << sweep.slow_rows;
      (slow ? right : wrong) = true;
    }
    found.right += right ? 1 : 0;
    found.wrong += wrong ? 1 : 0;
  }
  return found;
}

TEST(ComparePower, FewFalseAlarmsWithOutliers) { EXPECT_LE(run_sweeps({}).wrong, 1); }

TEST(ComparePower, FewFalseAlarmsWithoutOutliers) {
  EXPECT_LE(run_sweeps({.outliers = 0}).wrong, 1);
}

TEST(ComparePower, FindsOneRowThatIs20PercentSlower) {
  const Found found = run_sweeps({.outliers = 0, .slowdown = 1.2, .slow_rows = 1});
  EXPECT_GE(found.right, 90);
  EXPECT_LE(found.wrong, 1);
}

// An outlier among the base's runs hides what is slower: more pairs are needed.
TEST(ComparePower, FindsOneRowThatIs20PercentSlowerAmongOutliers) {
  const Found found = run_sweeps({.slowdown = 1.2, .slow_rows = 1, .pairs = 40});
  EXPECT_GE(found.right, 90);
  EXPECT_LE(found.wrong, 1);
}

TEST(ComparePower, DoubledPairsFindItWithoutMoreFalseAlarms) {
  const Found found = run_sweeps({.slowdown = 1.2, .slow_rows = 1, .most_pairs = 48});
  EXPECT_GE(found.right, 90);
  EXPECT_LE(found.wrong, 1);
  EXPECT_LE(run_sweeps({.most_pairs = 48}).wrong, 1);
}

TEST(ComparePower, FindsASweepThatIs20PercentSlowerAmongOutliers) {
  EXPECT_GE(run_sweeps({.slowdown = 1.2, .slow_rows = sweep_rows}).right, 90);
}

}  // namespace
}  // namespace ccl_tests::compare
