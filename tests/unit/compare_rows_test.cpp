// Rows of runs: which there are, which belong together; flags that are appended to commands.
#include <gtest/gtest.h>

#include "src/devices/core_to_core.hpp"
#include "tests/unit/compare_samples.hpp"

namespace ccl_tests::compare {
namespace {

using test::key;
using test::run_of;

TEST(CompareRows, BothPlacementsWithTheirIntervals) {
  const RunTimes times = times_of(run_of("x", 2e-5).run, JudgedBy::interval);
  ASSERT_EQ(times.size(), 2U);
  RowKey in_place = key(8);
  in_place.in_place = true;
  EXPECT_DOUBLE_EQ(times.at(key(8)).seconds, 2e-5);
  ASSERT_TRUE(times.at(in_place).interval);
  EXPECT_DOUBLE_EQ(times.at(in_place).interval->low, 2e-5 * 0.99);
}

TEST(CompareRows, WhereRanksWaitForCpusHaveThe10thPercentile) {
  RecordedRun run = run_of("x", 2e-5).run;
  run.rows[0].out_of_place.stream->fast = 1.5e-5;
  run.rows[0].in_place.stream.reset();  // a batch has a mean only
  const RunTimes times = times_of(run, JudgedBy::fast);
  EXPECT_DOUBLE_EQ(times.at(key(8)).seconds, 1.5e-5);
  EXPECT_FALSE(times.at(key(8)).interval);
  RowKey in_place = key(8);
  in_place.in_place = true;
  EXPECT_DOUBLE_EQ(times.at(in_place).seconds, 2e-5);
}

TEST(CompareRows, LeavesOutRepeatedPlacementsAndMissingTimes) {
  RecordedRun run = run_of("x").run;
  run.rows[0].in_place.repeats_out_of_place = true;
  EXPECT_EQ(times_of(run, JudgedBy::interval).size(), 1U);
  run.rows[0].out_of_place.seconds = 0;
  EXPECT_TRUE(times_of(run, JudgedBy::interval).empty());
}

TEST(CompareRows, CyclesOfARunAreOneValue) {
  RecordedRun run = run_of("x", 1).run;
  for (const double seconds : {5.0, 2.0}) {
    run.rows.push_back(run.rows[0]);
    run.rows.back().out_of_place.seconds = seconds;
  }
  const RunTimes times = times_of(run, JudgedBy::interval);
  EXPECT_DOUBLE_EQ(times.at(key(8)).seconds, 2);
  EXPECT_FALSE(times.at(key(8)).interval);
}

TEST(CompareRows, TheRowOfAllPassesIsTheValue) {
  RecordedRun run = run_of("x", 1).run;
  const Row all = run.rows[0];
  for (const int pass : {1, 2, 3}) {
    Row row = all;
    row.pass = pass;
    row.out_of_place.seconds = 10.0 * pass;
    run.rows.insert(run.rows.begin(), row);
  }
  EXPECT_DOUBLE_EQ(times_of(run, JudgedBy::interval).at(key(8)).seconds, 1);
  EXPECT_TRUE(times_of(run, JudgedBy::interval).at(key(8)).interval);
  run.rows.pop_back();
  EXPECT_DOUBLE_EQ(times_of(run, JudgedBy::interval).at(key(8)).seconds, 20);
  EXPECT_FALSE(times_of(run, JudgedBy::interval).at(key(8)).interval);
}

TEST(CompareRows, EveryPartOfTheKeyCounts) {
  std::vector<RowKey> keys(8, key(8));
  keys[1].bytes = 16;
  keys[2].type = DataType::half;
  keys[3].op = ReduceOp::max;
  keys[4].root = 1;
  keys[5].group = 1;
  keys[6].pair = RankPair{0, 1};
  keys[7].in_place = true;
  RunPair pair;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    pair.base[keys[i]] = {1, {}};
    pair.head[keys[i]] = {static_cast<double>(i + 1), {}};
  }
  const Matched matched = match({pair});
  ASSERT_EQ(matched.rows.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_DOUBLE_EQ(matched.rows.at(keys[i]).head[0].seconds, static_cast<double>(i + 1));
  EXPECT_EQ(where_text(keys[6]), "out_of_place,pair=0:1");
  EXPECT_EQ(row_text(keys[4]), "8 B float sum out_of_place,root=1");
}

TEST(CompareRows, CountsRowsOfOneSide) {
  const RunPair first{{{key(8), {1, {}}}, {key(16), {1, {}}}}, {{key(8), {2, {}}}}};
  const RunPair second{{{key(8), {1, {}}}}, {{key(8), {3, {}}}, {key(32), {1, {}}}}};
  const Matched matched = match({first, second});
  ASSERT_EQ(matched.rows.size(), 1U);
  EXPECT_EQ(matched.rows.at(key(8)).size(), 2U);
  EXPECT_EQ(matched.only_base, 1U);
  EXPECT_EQ(matched.only_head, 1U);
}

TEST(CompareCommands, FlagsThatChooseSizes) {
  for (const char* command :
       {"x -b 8", "x -b8", "x -e 1M", "x -f 4", "x -i 8", "x --sizes 8,16", "x --sizes=8",
        "x --maxbytes 8", "mpirun -n 2 x --minbytes=8", "x --tensors resnet50"})
    EXPECT_TRUE(chooses_sizes(command)) << command;
  for (const char* command :
       {"x", "x -n 8", "x --backend gloo", "x -d float", "x --bidirectional 1"})
    EXPECT_FALSE(chooses_sizes(command)) << command;
}

TEST(CompareCommands, AppendsFlags) {
  EXPECT_EQ(with_flags("x -n 2", "/tmp/a b/1.jsonl", {}), "x -n 2 -J '/tmp/a b/1.jsonl'");
  EXPECT_EQ(with_flags("x", "f", {1024, 8}), "x -J 'f' --sizes 8,1024");
}

TEST(CompareProbe, DiffersByMoreThanTheLimit) {
  EXPECT_TRUE(same_state(1e-7, 1.5e-7, 1.5));
  EXPECT_FALSE(same_state(1e-7, 1.6e-7, 1.5));
  EXPECT_FALSE(same_state(1.6e-7, 1e-7, 1.5));
  EXPECT_TRUE(same_state(std::nullopt, 1e-7, 1.5));
}

TEST(CompareProbe, MeasuresARoundTrip) {
  const std::optional<double> seconds = core_to_core(0.005);
  if (!seconds) GTEST_SKIP() << "one CPU";
  EXPECT_GT(*seconds, 1e-9);
}

}  // namespace
}  // namespace ccl_tests::compare
