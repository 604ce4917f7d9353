// How long an acceptance run takes, before and while it runs.
#include "tools/acceptance/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ccl_tests::acceptance {
namespace {

std::vector<std::string> names_of(const std::vector<PlannedStage>& stages) {
  std::vector<std::string> names;
  for (const PlannedStage& stage : stages) names.push_back(stage.name);
  return names;
}

TEST(AcceptanceProgress, StagesAreThoseThatTakeTime) {
  const Plan plan = plan_of("generic");
  EXPECT_THAT(names_of(planned_stages(plan, 16, 8, true)),
              testing::ElementsAre("sanity", "node", "pairs", "rails", "full", "scaling", "rest"));
  EXPECT_THAT(names_of(planned_stages(plan, 1, 1, false)),
              testing::ElementsAre("sanity", "full", "scaling"));
  for (const int hosts : {1, 2, 3, 4, 16, 64, 1000})
    for (const PlannedStage& stage : planned_stages(plan, hosts, 2, hosts > 1))
      EXPECT_LE(stage.takes.least, stage.takes.most) << stage.name << ' ' << hosts;
}

TEST(AcceptanceProgress, EveryPairIsARoundMoreWhereLinksAreLookedAt) {
  PairsPlan plan;
  EXPECT_EQ(expected_rounds(plan, 64).least, 8);
  EXPECT_EQ(expected_rounds(plan, 16).least, 20);
  plan.links = true;
  EXPECT_EQ(expected_rounds(plan, 64).least, 63);
  EXPECT_GT(expected_rounds(plan, 1000).most, 999);
}

TEST(AcceptanceProgress, TextsRoundToWhatIsKnown) {
  EXPECT_EQ(expected_text({0, 0.3}), "less than 1 s");
  EXPECT_EQ(expected_text({0.2, 8}), "up to 8.0 s");
  EXPECT_EQ(expected_text({20, 120}), "20 s to 2 min 00 s");
  EXPECT_EQ(expected_text({38, 40}), "40 s");
}

TEST(AcceptanceProgress, WhatIsDoneSaysHowLongTheRestTakes) {
  Progress progress({{"full", {1, 100}}, {"soak", {30, 30}}}, 1000);
  EXPECT_DOUBLE_EQ(progress.left(1000).least, 31);
  EXPECT_DOUBLE_EQ(progress.left(1000).most, 130);
  progress.begin("full", 1000);
  EXPECT_DOUBLE_EQ(progress.left(1002).least, 30);  // not less than nothing of a stage
  EXPECT_DOUBLE_EQ(progress.left(1002).most, 128);
  progress.at({"row", 10, 40, 40}, 1005);
  EXPECT_DOUBLE_EQ(progress.left(1005).least, 15 + 30);
  EXPECT_DOUBLE_EQ(progress.left(1005).most, 15 + 30);
  progress.end(1020);
  EXPECT_DOUBLE_EQ(progress.left(1020).most, 30);
  progress.begin("soak", 1020);
  progress.end(1050);
  EXPECT_DOUBLE_EQ(progress.left(1050).most, 0);
}

TEST(AcceptanceProgress, AStageRestsWhileAnotherRunsWithinIt) {
  Progress progress({{"pairs", {4, 60}}, {"full", {1, 20}}}, 0);
  progress.begin("pairs", 0);
  progress.at({"round", 8, 8, 128}, 4);
  progress.begin("full", 4);
  EXPECT_DOUBLE_EQ(progress.left(9).most, 60 + 15);
  progress.end(14);
  EXPECT_DOUBLE_EQ(progress.left(14).most, 60);  // half a second a round, as before
  progress.at({"round", 28, 8, 128}, 24);
  EXPECT_DOUBLE_EQ(progress.left(24).most, 50);
  EXPECT_DOUBLE_EQ(progress.left(24).least, 0);
}

TEST(AcceptanceProgress, LinesComeEveryFewSecondsAndLessOftenLater) {
  Progress progress({{"pairs", {4, 64}}}, 0);
  progress.begin("pairs", 0);
  EXPECT_FALSE(progress.at({"round", 8, 20, 128}, 4));
  EXPECT_EQ(progress.at({"round", 10, 20, 128}, 5),
            "round 10 of 20 to 128, 5.0 s; left: 5.0 s to 59 s");
  EXPECT_FALSE(progress.at({"round", 11, 20, 128}, 6));
  EXPECT_EQ(progress.at({"round", 20, 20, 128}, 200),
            "round 20 of at most 128, 3 min 20 s; left: up to 18 min 00 s");
  EXPECT_FALSE(progress.at({"round", 21, 20, 128}, 210));
  EXPECT_EQ(progress.at({"row", 30, 40, 40}, 240), "row 30 of 40, 4 min 00 s; left: 1 min 20 s");
}

TEST(AcceptanceProgress, WhatWasNotPlannedIsNoTrouble) {
  Progress progress;
  progress.begin("limits", 1);
  EXPECT_FALSE(progress.at({"row", 1, 2, 2}, 2));
  progress.end(3);
  progress.end(3);
  EXPECT_DOUBLE_EQ(progress.left(4).most, 0);
}

}  // namespace
}  // namespace ccl_tests::acceptance
