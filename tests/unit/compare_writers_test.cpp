// The table and the three files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "tests/unit/compare_samples.hpp"
#include "tools/compare/report.hpp"

namespace ccl_tests::compare {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A row that is slower, and one that is undecided.
Report sample() {
  Report report;
  report.program = "all_reduce_perf";
  report.base = "old/all_reduce_perf -b 8 && \"<x>\"";
  report.head = "new|2";
  report.interleaved = true;
  report.notes = {"version differs:\nx"};
  Comparison& c = report.comparison;
  c.screened_pairs = 2;
  c.tested_pairs = 12;
  c.flagged = 2;
  RowResult row;
  row.key = test::key(8);
  row.base_s = 1e-5;
  row.head_s = 1.3e-5;
  row.ratio = 1.3;
  row.interval = Interval{1.25, 1.35};
  row.pairs = 12;
  row.flagged = true;
  row.p_slower = 0.001;
  row.p_faster = 1;
  row.verdict = RowVerdict::slower;
  c.rows = {row, row};
  c.rows[1].key.in_place = true;
  c.rows[1].key.pair = RankPair{0, 1};
  c.rows[1].interval.reset();
  c.rows[1].verdict = RowVerdict::inconclusive;
  return report;
}

TEST(CompareWriters, Table) {
  const std::string text = table_text(sample());
  EXPECT_THAT(text, HasSubstr("# ccl_compare: all_reduce_perf, threshold 5 %\n"));
  EXPECT_THAT(text, HasSubstr("# Note: version differs: x\n"));
  EXPECT_THAT(text,
              HasSubstr("        base        head pair ratio   95 % interval pairs  verdict\n"));
  EXPECT_THAT(text,
              HasSubstr("       10.00       13.00      1.300   [1.250,1.350]    12  slower\n"));
  EXPECT_THAT(text, HasSubstr("pair ratio: median of head / base over the pairs, not the quotient "
                              "of the medians"));
  EXPECT_THAT(text, HasSubstr("# Next : fix the slowdown, or accept it; "));
  EXPECT_THAT(text, HasSubstr("in_place,pair=0:1"));
  EXPECT_THAT(text, EndsWith("# Verdict : slower: 1 slower, 0 faster, 0 same, 0 not slower, 1 "
                             "inconclusive, 0 unflagged\n"));
}

TEST(CompareWriters, JsonLines) {
  std::istringstream lines(json_text(sample()));
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["type"], "header");
  EXPECT_EQ(all[0]["head"], "new|2");
  EXPECT_EQ(all[1]["size_bytes"], 8);
  EXPECT_EQ(all[1]["verdict"], "slower");
  EXPECT_EQ(all[2]["pair"], "0:1");
  EXPECT_TRUE(all[2]["ratio_low"].is_null());
  EXPECT_EQ(all[3]["exit_code"], 6);
  EXPECT_EQ(all[3]["slower"], 1);
}

TEST(CompareWriters, TellsOfTheMachineOnlyIfPairsWereDrawnAgain) {
  Report report = sample();
  report.comparison.probes = Interval{9e-8, 4e-7};
  EXPECT_THAT(table_text(report), Not(HasSubstr("drawn again")));
  report.comparison.redrawn = 2;
  EXPECT_THAT(table_text(report), HasSubstr("# Note: the machine changed its speed during 2 pairs, "
                                            "which were drawn again\n"));
}

TEST(CompareWriters, Markdown) {
  Report report = sample();
  std::swap(report.comparison.rows[0], report.comparison.rows[1]);
  report.comparison.rows[1].key.bytes = 65536;
  const std::string text = markdown_text(report);
  EXPECT_THAT(text, StartsWith("**all\\_reduce\\_perf: 1 of 2 rows slower \\(median 1.3x\\)**\n\n"
                               "Next: fix the slowdown"));
  EXPECT_THAT(text, HasSubstr("- head: new\\|2\n"));
  EXPECT_THAT(text, Not(HasSubstr("<details>")));
  EXPECT_THAT(text, HasSubstr("|---|\n| 64 KiB | float | sum | out\\_of\\_place | 10 us | 13 us | "
                              "1.300 | 1.250 to 1.350 | 12 | **slower** |\n| 8 B | "))
      << "slower rows come first";
  EXPECT_THAT(text, HasSubstr("pair ratio: median of head / base over the pairs"));
}

TEST(CompareWriters, MarkdownFoldsATableInWhichNothingIsSlower) {
  Report report = sample();
  report.comparison.rows[0].verdict = RowVerdict::same;
  const std::string text = markdown_text(report);
  EXPECT_THAT(text, StartsWith("**all\\_reduce\\_perf: 1 of 2 rows undecided, none slower**\n\n"
                               "Next: 1 row may be slower, but so few pairs do not confirm it; "));
  Report slight = report;
  slight.comparison.rows[1].ratio = 1.01;
  EXPECT_THAT(markdown_text(slight), HasSubstr("Next: nothing is known to be slower; more pairs "));
  EXPECT_THAT(text, HasSubstr("<details><summary>2 rows</summary>\n\n| size | "));
  EXPECT_THAT(text, HasSubstr(" |\n\n</details>\n"));
  report.comparison.rows[1].verdict = RowVerdict::not_slower;
  EXPECT_THAT(markdown_text(report),
              StartsWith("**all\\_reduce\\_perf: none of 2 rows slower**\n\n<details>"));
}

TEST(CompareWriters, Junit) {
  Report report = sample();
  report.program = "a<b";
  const std::string text = junit_text(report);
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("classname=\"a&lt;b\" name=\"8 B float sum out_of_place\""));
  EXPECT_THAT(text, HasSubstr("<failure message=\"slower: 10 us in base, 13 us in head, pair ratio "
                              "1.300 (95 % interval 1.250 to 1.350), 12 pairs\"/>"));
  EXPECT_THAT(text, HasSubstr("  <system-out>slower: 1 slower, "));
  EXPECT_THAT(text, HasSubstr("\nversion differs: x\n"));
  EXPECT_THAT(text, HasSubstr("\nNext: fix the slowdown"));
  EXPECT_THAT(text, Not(HasSubstr("a<b")));
}

TEST(CompareWriters, HintsFailNoTestCase) {
  Report report = sample();
  report.hints = true;
  for (RowResult& row : report.comparison.rows) row.hint = true;
  EXPECT_THAT(junit_text(report), HasSubstr("failures=\"0\""));
  EXPECT_THAT(table_text(report), HasSubstr("slower?"));
  EXPECT_THAT(table_text(report), HasSubstr("# Verdict : hints only, nothing is confirmed: "));
}

}  // namespace
}  // namespace ccl_tests::compare
