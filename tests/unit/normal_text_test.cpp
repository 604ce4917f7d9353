// What the footer says of fits, from rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/judge/run_judge.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/table_footer.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

double line(std::size_t bytes) { return 88e-6 + static_cast<double>(bytes) / 1.94e9; }

// As a stream measures it, within 1 %.
void set_time(Measurement& cell, double seconds) {
  cell.seconds = seconds;
  cell.stream = StreamTimes{.low = 0.99 * seconds, .high = 1.01 * seconds};
}

// Rows from 8 B to 64 MiB.
std::vector<Row> rows() {
  std::vector<Row> rows;
  for (int k = 3; k < 27; ++k) {
    Row row;
    row.bytes = std::size_t{1} << k;
    row.op = ReduceOp::sum;
    for (Measurement* cell : {&row.out_of_place, &row.in_place}) set_time(*cell, line(row.bytes));
    row.in_place.repeats_out_of_place = true;
    rows.push_back(row);
  }
  return rows;
}

RunSummary summary_of(const std::vector<Row>& rows) {
  std::vector<SweepTimes> sweeps;
  for (const Row& row : rows) add_times(sweeps, row);
  RunSummary summary;
  summary.fits = sweep_fits(sweeps);
  return summary;
}

RunInfo of_two_ranks() {
  RunInfo run;
  run.ranks = 2;
  return run;
}

TEST(NormalText, GivesTheFit) {
  EXPECT_EQ(
      normal_text(of_two_ranks(), summary_of(rows())),
      "no size stands out - time = 88 us + size / 1.94 GB/s fits every row within 1 % (the link's limit is not known; --ceiling auto measures it)");
}

TEST(NormalText, GivesEachSegment) {
  std::vector<Row> some = rows();
  for (Row& row : some)
    if (row.bytes <= 32768) set_time(row.out_of_place, 2e-6 + static_cast<double>(row.bytes) / 1e9);
  EXPECT_EQ(
      normal_text(of_two_ranks(), summary_of(some)),
      "no size stands out - time = 2 us + size / 1 GB/s to 32 KiB, then 88 us + size / 1.94 "
      "GB/s fits every row within 1 % (the link's limit is not known; --ceiling auto measures it)");
}

TEST(NormalText, NamesTheRowThatStandsOutMost) {
  std::vector<Row> some = rows();
  some[13].out_of_place.seconds *= 3.1;
  const std::string text = normal_text(of_two_ranks(), summary_of(some));
  EXPECT_THAT(text,
              StartsWith("no - 64 KiB float sum out of place is 3.1 times slower than the fit "
                         "(88"));
  some[20].out_of_place.seconds *= 2;
  EXPECT_THAT(normal_text(of_two_ranks(), summary_of(some)),
              HasSubstr("64 KiB float sum out of place is 3.1"));
  EXPECT_THAT(normal_text(of_two_ranks(), summary_of(some)), HasSubstr("; 1 more stands out"));
}

TEST(NormalText, TellsPlacementsApart) {
  std::vector<Row> some = rows();
  for (Row& row : some) row.in_place.repeats_out_of_place = false;
  some[3].in_place.seconds *= 1.04;
  EXPECT_THAT(normal_text(of_two_ranks(), summary_of(some)),
              HasSubstr("within 1 % (float sum out of place); float sum in place within 4 %"));
}

TEST(NormalText, IsEmptyWhereNothingCanBeSaid) {
  std::vector<Row> some = rows();
  some.resize(3);
  EXPECT_EQ(normal_text(of_two_ranks(), summary_of(some)), "");
  RunSummary summary = summary_of(rows());
  summary.verdict = Verdict::unreliable;
  EXPECT_EQ(normal_text(of_two_ranks(), summary), "");
  some.resize(1);
  EXPECT_EQ(normal_text(of_two_ranks(), summary_of(some)), "");
  EXPECT_EQ(normal_text(of_two_ranks(), {}), "");
}

TEST(SweepFits, AreOfOneTypeOperationRootAndPlacement) {
  std::vector<Row> some = rows();
  for (Row row : rows()) {
    row.op = ReduceOp::max;
    row.out_of_place.seconds *= 10;
    some.push_back(row);
  }
  const RunSummary summary = summary_of(some);
  ASSERT_EQ(summary.fits.size(), 2U);
  EXPECT_EQ(summary.fits[1].op, ReduceOp::max);
  EXPECT_EQ(summary.fits[1].placement, "out_of_place");
  EXPECT_NEAR(summary.fits[1].result.fit->segments[0].alpha.value, 880e-6, 1e-9);
}

TEST(SweepFits, OfAPlacementThatWasLeftOutThereIsNone) {
  std::vector<Row> some = rows();
  for (Row& row : some) {
    row.in_place = row.out_of_place;
    row.out_of_place = Measurement();
    row.out_of_place.left_out = true;
  }
  const RunSummary summary = summary_of(some);
  ASSERT_EQ(summary.fits.size(), 1U);
  EXPECT_EQ(summary.fits[0].placement, "in_place");
}

TEST(NormalText, ComparesWithTheCeiling) {
  RunInfo run;
  run.ranks = 2;
  RunSummary summary = summary_of(rows());
  EXPECT_THAT(normal_text(run, summary), HasSubstr("--ceiling auto measures it"));
  run.ceiling = Ceiling{2.07, {}};
  run.ceiling_source = "pingpong";
  summary.peak = Peak{64 << 20, 1.92};
  EXPECT_THAT(
      normal_text(run, summary),
      StartsWith("yes - 1.92 GB/s at 64 MiB is 93 % of this link's 2.07 GB/s (pingpong); no "
                 "size stands out - time"));
  summary.peak->busbw = 0.92;
  EXPECT_THAT(normal_text(run, summary), StartsWith("no - 0.92 GB/s at 64 MiB is 44 %"));
  summary.fits[0].result.fit->above = {{65536, 3.1}};
  EXPECT_THAT(normal_text(run, summary), StartsWith("no - 64 KiB float sum out of place is 3.1"));
  summary.fits[0].result = {{}, "no line describes them"};
  EXPECT_THAT(normal_text(run, summary), HasSubstr("(pingpong); no line describes them"));
  summary.fits.clear();
  EXPECT_EQ(normal_text(run, summary),
            "no - 0.92 GB/s at 64 MiB is 44 % of this link's 2.07 GB/s (pingpong)");
  summary.peak->busbw = 2.16;  // a measured link may be off by as much
  EXPECT_THAT(normal_text(run, summary), StartsWith("yes - 2.16 GB/s at 64 MiB is 104 %"));
  summary.peak->busbw = 2.18;
  EXPECT_EQ(
      normal_text(run, summary),
      "no - 2.18 GB/s at 64 MiB is 105 % of this link's 2.07 GB/s (pingpong), impossible over one "
      "such link: several links, shared memory, or a wrong ceiling");
  summary.verdict = Verdict::unreliable;
  EXPECT_EQ(normal_text(run, summary), "");
  summary.complete = false;
  EXPECT_EQ(normal_text(run, summary), "");
}

// Of which nobody knows whether they are near a line.
TEST(SweepFits, LeaveOutTimesWithWideIntervals) {
  std::vector<Row> some = rows();
  for (const std::size_t k : {std::size_t{5}, some.size() - 1}) {
    Measurement& wide = some[k].out_of_place;
    wide.seconds *= 4;
    wide.stream->high = 1.4 * wide.seconds;
  }
  some[4].out_of_place.stream->low.reset();
  const RunSummary summary = summary_of(some);
  EXPECT_EQ(summary.fits[0].left_out, 3U);
  EXPECT_EQ(normal_text(of_two_ranks(), summary),
            "no size stands out - time = 88 us + size / 1.94 GB/s fits every row within 1 %; "
            "without 3 times that have too wide an interval (the link's limit is not known; "
            "--ceiling auto measures it)");
}

// A time whose interval is wide weighs less.
TEST(SweepFits, WeighTimesByTheirIntervals) {
  std::vector<Row> some = rows();
  Measurement& wide = some.back().out_of_place;
  wide.seconds *= 1.1;
  wide.stream->low = 0.9 * wide.seconds;
  wide.stream->high = 1.1 * wide.seconds;
  const RunSummary summary = summary_of(some);
  EXPECT_NEAR(summary.fits[0].result.fit->segments[0].beta.value * 1.94e9, 1, 0.01);
}

// A clock that nobody has set may be before 1970.
TEST(LocalTime, HasMillisecondsThatCountUpwards) {
  using namespace std::chrono;
  const auto at = [](milliseconds since_1970) {
    return local_time(system_clock::time_point(since_1970)).substr(16, 7);  // ":SS.mmm"
  };
  EXPECT_EQ(at(milliseconds(1007)), ":01.007");
  EXPECT_EQ(at(milliseconds(-113)), ":59.887");
  EXPECT_EQ(at(milliseconds(-1000)), ":59.000");
}

TEST(QuantityText, HasTheUnitThatFits) {
  EXPECT_EQ(binary_size_text(0), "0 B");
  EXPECT_EQ(binary_size_text(1000), "1000 B");
  EXPECT_EQ(binary_size_text(65536), "64 KiB");
  EXPECT_EQ(binary_size_text(std::size_t{3} << 30), "3 GiB");
  EXPECT_EQ(seconds_text(1.57e-7), "0.157 us");
  EXPECT_EQ(seconds_text(999.9e-6), "1 ms");
  EXPECT_EQ(seconds_text(12.34), "12.34 s");
}

}  // namespace
}  // namespace ccl_tests
