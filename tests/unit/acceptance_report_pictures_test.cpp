// Axes, the colour scale, the heat map and the curves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/curve_plot.hpp"
#include "tools/acceptance/report/heat_map.hpp"

namespace ccl_tests::acceptance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST(AcceptanceAxis, TicksPeopleCountIn) {
  EXPECT_THAT(LogAxis(1, 1e4, 0, 100).decimal_ticks(), ElementsAre(1, 10, 100, 1000, 10000));
  EXPECT_THAT(LogAxis(1, 60, 0, 100).decimal_ticks(), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(LogAxis(2, 4, 0, 100).decimal_ticks(), ElementsAre(2, 3, 4));
  EXPECT_THAT(LogAxis(20, 22, 0, 100).decimal_ticks(), ElementsAre(20, 21, 22));
  EXPECT_THAT(LogAxis(1024, 1 << 20, 0, 100).binary_ticks(6), SizeIs(::testing::Le(6U)));
  EXPECT_THAT(LogAxis(1024, 4096, 0, 100).binary_ticks(6), ElementsAre(1024, 2048, 4096));
  const LogAxis axis(10, 1000, 0, 100);
  EXPECT_DOUBLE_EQ(axis.pixel(100), 50);
  EXPECT_DOUBLE_EQ(LogAxis(8, 8, 0, 100).pixel(8), 50);
}

TEST(AcceptanceHeatMap, StepsOfTheScale) {
  EXPECT_EQ(heat_step(0.5), 0);
  EXPECT_EQ(heat_step(1), 1);
  EXPECT_EQ(heat_step(1.1), 2);
  EXPECT_EQ(heat_step(1e9), 6);
  EXPECT_EQ(heat_step(std::numeric_limits<double>::infinity()), 6);
  EXPECT_EQ(heat_step(test::not_a_number), -1);
}

TEST(AcceptanceHeatMap, TheMedianIsOfPairsOnly) {
  EXPECT_EQ(median_pair({8, {9, 1, 2, 9}}, 2), 2);
  EXPECT_EQ(median_pair({8, {9, test::not_a_number, 2, 9}}, 2), 2);
  EXPECT_TRUE(std::isnan(median_pair({8, {9}}, 1)));
  EXPECT_TRUE(std::isnan(median_pair({8, {}}, 0)));
}

TEST(AcceptanceHeatMap, LabelsAreThinnedAndSuspectsStay) {
  std::vector<bool> suspect(256);
  suspect[77] = suspect[200] = suspect[201] = true;
  const auto labels = labelled(256, suspect, 2.5, 12);
  EXPECT_THAT(labels, Contains(77U));
  EXPECT_THAT(labels, Contains(200U));
  EXPECT_THAT(labels, Not(Contains(201U)));  // covers 200
  for (std::size_t i = 1; i < labels.size(); ++i) EXPECT_GE(labels[i] - labels[i - 1], 5U);
  EXPECT_THAT(labelled(8, std::vector<bool>(8), 40, 12), SizeIs(8));
}

TEST(AcceptanceHeatMap, MarksWhatIsSuspected) {
  const Record record = test::sample();
  const std::string map = heat_map_svg(record.pairs[1], record.hosts, suspects(record));
  EXPECT_EQ(count(map, "class=\"mark\""), 2U);       // node5's row and column
  EXPECT_EQ(count(map, "class=\"mark link\""), 2U);  // both directions
  EXPECT_THAT(map, HasSubstr("node1 to node6: "));
  EXPECT_THAT(heat_map_svg(record.pairs[0], record.hosts, suspects(record)),
              HasSubstr("node3 to node4: not measured"));
}

TEST(AcceptanceHeatMap, SaysWhyThereIsNone) {
  const Record record = test::unmeasured();
  EXPECT_THAT(heat_map_svg(record.pairs[0], record.hosts, suspects(record)),
              HasSubstr("No pair was measured"));
  EXPECT_THAT(heat_map_svg({8, {1, 2}}, record.hosts, suspects(record)),
              HasSubstr("2 times for 8 hosts"));
  EXPECT_THAT(heat_map_svg({8, {}}, {}, {}), HasSubstr("fewer than two hosts"));
}

TEST(AcceptanceHeatMap, OfManyHostsIsSmall) {
  const Record record = test::many_hosts();
  const std::string map = heat_map_svg(record.pairs[0], record.hosts, suspects(record));
  EXPECT_LT(map.size(), 1000000U);
  EXPECT_THAT(map, HasSubstr("rack04-node077"));
}

TEST(AcceptanceCurves, SayWhatIsBelowTheLimit) {
  const Record record = test::sample();
  EXPECT_THAT(below_limit(record.curves[0]), Not(::testing::IsEmpty()));
  const std::string figures = curve_figures(record.curves);
  EXPECT_EQ(count(figures, "<figure"), 4U);  // three of alltoall_perf are one
  EXPECT_THAT(figures, HasSubstr("Below the limit at 16 MiB: "));
  EXPECT_THAT(figures, HasSubstr("1 size not measured"));
  EXPECT_THAT(figures, HasSubstr(">32 ranks</text>"));
}

TEST(AcceptanceCurves, EdgeCases) {
  EXPECT_EQ(curve_figures({}), "");
  EXPECT_THAT(curve_figures(test::unmeasured().curves), HasSubstr("No size was measured"));
  EXPECT_THAT(
      curve_figures({Curve{"full", "x", "float", 6, {{8, 0, 0, 0, 0}, {1024, 1e9, 9e8, 2e9, 0}}}}),
      HasSubstr("<p class=\"note\">8 B: no data leave a rank, so there is no bandwidth. </p>"));
  const std::string one =
      curve_figures({Curve{"full", "x", "float", 1, {{8, 1e9, 9e8, 2e9, 3e9}}}});
  EXPECT_THAT(one, HasSubstr("class=\"below\""));
  EXPECT_THAT(one, Not(HasSubstr("nan")));
  for (const Record& record : {test::sample(), test::many_hosts(), test::unmeasured()}) {
    EXPECT_THAT(curve_figures(record.curves), Not(HasSubstr("nan")));
    EXPECT_THAT(curve_figures(record.curves), Not(HasSubstr("inf")));
  }
}

}  // namespace
}  // namespace ccl_tests::acceptance
