// How often healthy ranks are named from the times of all pairs, and slow ones are, in runs from fixed seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include "src/judge/pair_judgement.hpp"
#include "src/options/rank_groups.hpp"
#include "tests/unit/acceptance_noise.hpp"

namespace ccl_tests {
namespace {

using acceptance::Random;
using acceptance::test::NoiseShape;
using acceptance::test::normal;
using acceptance::test::ShapedNoise;
using acceptance::test::uniform;

// A run of pingpong_perf --pairs all, on a host for each rank.
struct PairRun {
  NoiseShape noise;
  int ranks = 0;
  std::size_t sizes = 6;
  int slow = -1;          // rank; -1: none
  double effect = 0;      // of the slow rank, natural logarithm
  double of_pairs = 0;    // standard deviation of what all times of a pair share
  double two_speeds = 0;  // share of the times that take five times as long
};

std::vector<Row> rows_of(const PairRun& run, std::uint64_t seed) {
  Random random(seed * 2 + 1);
  ShapedNoise noise(run.noise, static_cast<std::size_t>(run.ranks), random);
  std::map<RankPair, double> shared;
  const auto rounds = pair_rounds({.all = true, .list = {}}, false, run.ranks);
  for (const PairRound& round : rounds) shared[round[0]] = run.of_pairs * normal(random);
  std::vector<Row> rows;
  for (std::size_t size = 0; size < run.sizes; ++size)
    for (const PairRound& round : rounds) {
      const int a = round[0].first, b = round[0].second;
      const auto effect = [&](int rank) { return rank == run.slow ? run.effect : 0; };
      noise.next_round(2.0 / run.ranks, random);  // so many rounds of a tournament are a pair
      const auto seconds = [&] {
        const double speed = uniform(random) <= run.two_speeds ? std::log(5) : 0;
        return 1e-5 *
               std::exp(noise.of(a, b, effect(a), effect(b), random) + shared[{a, b}] + speed);
      };
      Row& row = rows.emplace_back();
      row.bytes = 8U << (3 * size);
      row.pair = {a, b};
      row.out_of_place.seconds = seconds();
      row.in_place.seconds = seconds();
    }
  return rows;
}

struct Count {
  int runs = 0, right = 0, wrong_ranks = 0, wrong_links = 0, blind = 0;
  double could_see = 0;  // mean
};

Count count(const PairRun& run, int runs) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < run.ranks; ++rank) hosts.push_back("node" + std::to_string(rank));
  Count all;
  all.runs = runs;
  for (int seed = 0; seed < runs; ++seed) {
    const PairJudgement found = judge_pairs(rows_of(run, static_cast<std::uint64_t>(seed)), hosts);
    bool right = false, wrong_rank = false, wrong_link = false;
    for (const PairFinding& one : found.findings) {
      right = right || one.rank == run.slow;
      wrong_rank = wrong_rank || (one.rank && *one.rank != run.slow);
      wrong_link = wrong_link || one.pair;
    }
    all.right += right ? 1 : 0;
    all.wrong_ranks += wrong_rank ? 1 : 0;
    all.wrong_links += wrong_link ? 1 : 0;
    all.blind += found.could_see ? 0 : 1;
    all.could_see += found.could_see.value_or(0) / runs;
  }
  std::cout << run.ranks << " ranks, " << run.sizes << " sizes, noise " << run.noise.name
            << ", pairs " << run.of_pairs << ", two speeds " << run.two_speeds << ", "
            << std::exp(run.effect) << " x: named " << all.right << ", other ranks "
            << all.wrong_ranks << ", links " << all.wrong_links << ", nothing said " << all.blind
            << " of " << runs << ", could see " << all.could_see << std::endl;
  return all;
}

std::vector<NoiseShape> shapes() {
  return {acceptance::test::noise_a(), acceptance::test::noise_b(), acceptance::test::noise_c(),
          acceptance::test::noise_d()};
}

// Runs that are still enough to tell 1 in 1000; four times as many with CCL_NIGHTLY.
int number_of(int runs) { return std::getenv("CCL_NIGHTLY") != nullptr ? 4 * runs : runs; }

int names(const Count& one) { return one.wrong_ranks + one.wrong_links; }

// At most 1 in 1000, of each number of ranks.
TEST(PairPower, HealthyRunsNameNobody) {
  for (const int ranks : {4, 6, 8, 16}) {
    const int runs = number_of(ranks == 16 ? 250 : 500);
    int wrong = 0, all = 0;
    for (const NoiseShape& noise : shapes())
      for (const std::size_t sizes : {1U, 6U}) {
        wrong += names(count({.noise = noise, .ranks = ranks, .sizes = sizes}, runs));
        all += runs;
      }
    EXPECT_LE(wrong, all / 1000) << ranks;
  }
}

// What the tests of ccl_acceptance do not have: small messages that wait for a CPU or do not, and paths
// that differ for as long as the run lasts.
TEST(PairPower, TwoSpeedsAndPathsThatDifferNameNobody) {
  const NoiseShape noise = acceptance::test::noise_b();
  for (const int ranks : {4, 6, 8, 16}) {
    const int runs = number_of(ranks == 16 ? 125 : 250);
    int wrong = 0, all = 0;
    const auto add = [&](const PairRun& run) {
      wrong += names(count(run, runs));
      all += runs;
    };
    for (const double share : {0.1, 0.3, 0.5})
      for (const std::size_t sizes : {1U, 6U})
        add({.noise = noise, .ranks = ranks, .sizes = sizes, .two_speeds = share});
    for (const double deviation : {0.05, 0.1, 0.3})
      add({.noise = noise, .ranks = ranks, .of_pairs = deviation});
    EXPECT_LE(wrong, all / 1000) << ranks;
  }
}

TEST(PairPower, ARankOfHalfTheSpeedIsNamed) {
  for (const int ranks : {6, 8, 16})
    for (const NoiseShape& noise : shapes()) {
      const PairRun run{.noise = noise, .ranks = ranks, .slow = 1, .effect = std::log(2)};
      const Count found = count(run, 200);
      EXPECT_GE(found.right, 196) << ranks << noise.name;
      EXPECT_EQ(found.wrong_ranks, 0) << ranks << noise.name;
    }
}

// What a run says that it could have seen, it sees.
TEST(PairPower, SeesWhatItSays) {
  for (const int ranks : {4, 5, 6, 8, 16})
    for (const NoiseShape& noise : shapes()) {
      const double could_see = count({.noise = noise, .ranks = ranks}, 100).could_see;
      const PairRun run{.noise = noise, .ranks = ranks, .slow = 2, .effect = std::log(could_see)};
      EXPECT_GE(count(run, 200).right, 160) << ranks << noise.name;
    }
}

}  // namespace
}  // namespace ccl_tests
