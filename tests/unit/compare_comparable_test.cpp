// Which runs are refused, and what is said of those that differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "src/core/error.hpp"
#include "tests/unit/compare_samples.hpp"

namespace ccl_tests::compare {
namespace {

using test::run_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What check_comparable says of two runs of which the second one is changed.
std::string refusal(const std::function<void(RecordedRun&)>& change) {
  NamedRun head = run_of("head.jsonl");
  change(head.run);
  try {
    check_comparable(run_of("base.jsonl"), head, Routings::any);
  } catch (const UsageError& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    return e.what();
  }
  return "";
}

TEST(Comparable, EqualRuns) {
  EXPECT_EQ(refusal([](RecordedRun&) {}), "");
  EXPECT_THAT(differences(run_of("a"), run_of("b")), IsEmpty());
}

TEST(Comparable, RunsOfWhichOneWaitsForCpusAreComparedAsSinglesAlone) {
  NamedRun waits = run_of("head.jsonl");
  waits.run.info.oversubscribed = true;
  EXPECT_EQ(refusal([](RecordedRun& run) { run.info.oversubscribed = true; }), "");
  EXPECT_THAT(
      differences(run_of("base.jsonl"), waits),
      ElementsAre("whether ranks wait for CPUs differs: 'no' in base.jsonl, 'yes' in head.jsonl"));
  EXPECT_THROW(check_same_number(run_of("base.jsonl"), waits), UsageError);
  EXPECT_NO_THROW(check_same_number(waits, waits));
}

// The question of moe.sh: how many times as long is a routing than the balanced one?
TEST(Comparable, RoutingsDifferAndAreNamed) {
  const auto routed = [](const std::string& routing, const std::string& experts) {
    return [=](RecordedRun& run) {
      run.info.mode = "routing " + routing + ", 2 of " + experts;
      run.info.settings = {{"routing", routing}};
    };
  };
  NamedRun base = run_of("base"), head = run_of("head"), other = run_of("head");
  routed("balanced", "32 experts")(base.run);
  routed("zipf:1", "32 experts")(head.run);
  routed("zipf:1", "8 experts")(other.run);
  EXPECT_NO_THROW(check_comparable(base, head, Routings::any));
  EXPECT_THAT(differences(base, head),
              ElementsAre("routing differs: 'balanced' in base, 'zipf:1' in head"));
  EXPECT_THROW(check_comparable(base, head, Routings::same), UsageError);
  EXPECT_THROW(check_comparable(base, other, Routings::any), UsageError);
}

TEST(Comparable, LibrariesSettingsThatDifferAreNamed) {
  NamedRun base = run_of("base"), head = run_of("head");
  base.run.info.environment = {"LD_PRELOAD=libx.so", "OMPI_MCA_btl=self,vader", "WORLD_SIZE=2"};
  head.run.info.environment = {"LD_PRELOAD=libx.so", "OMPI_MCA_btl=self,tcp", "WORLD_SIZE=3"};
  head.run.info.rank_differences = {"CPUs: rank 0: 0, rank 1: 1"};
  EXPECT_THAT(
      differences(base, head),
      ElementsAre("environment differs: 'OMPI_MCA_btl=self,vader' in base, "
                  "'OMPI_MCA_btl=self,tcp' in head",
                  "rank_differences differs: '' in base, 'CPUs: rank 0: 0, rank 1: 1' in head"));
}

TEST(Comparable, NamesTheFieldAndBothValues) {
  EXPECT_EQ(refusal([](RecordedRun& run) { run.info.backend = "mpi"; }),
            "cannot compare: backend is 'gloo' in base.jsonl and 'mpi' in head.jsonl");
  EXPECT_EQ(refusal([](RecordedRun& run) { run.info.backend = "gloo-20260421"; }), "");
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.program = "gather_perf"; }),
              HasSubstr("program is 'all_reduce_perf' in base.jsonl and 'gather_perf'"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.ranks = 4; }),
              HasSubstr("ranks is '2' in base.jsonl and '4' in head.jsonl"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.mode = "oneway"; }), HasSubstr("mode is"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.clock = "cpu"; }), HasSubstr("clock is"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.cache = "cold"; }),
              HasSubstr("cache is 'warm' in base.jsonl and 'cold' in head.jsonl"));
  EXPECT_EQ(refusal([](RecordedRun& run) { run.info.cache.clear(); }), "");  // an older file
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.precision.reset(); }), HasSubstr("time is"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.info.options.measure.samples = true; }),
              HasSubstr("time is"));
  EXPECT_THAT(refusal([](RecordedRun& run) { run.rows[0].type = DataType::half; }),
              HasSubstr("datatype is 'float' in base.jsonl and 'half' in head.jsonl"));
  EXPECT_THAT(refusal([](RecordedRun& run) {
                run.rows.push_back(run.rows[0]);
                run.rows[1].op = ReduceOp::max;
              }),
              HasSubstr("op is 'sum' in base.jsonl and 'max,sum' in head.jsonl"));
}

// A run that was killed has no footer, or one whose verdict is "incomplete".
TEST(Comparable, WrongDataAndBitsThatVaryAreNoMistakeOfTheUser) {
  const auto found = [](const std::function<void(RecordedRun&)>& change) {
    NamedRun run = run_of("head.jsonl");
    run.run.info.ranks = 3;  // which alone were a mistake
    change(run.run);
    try {
      check_comparable(run_of("base.jsonl"), run, Routings::any);
    } catch (const Error& e) {
      const std::string text = e.what(), begin = "cannot compare: head.jsonl: all_reduce_perf: ";
      EXPECT_EQ(e.code(), text.starts_with(begin) ? Exit::wrong_data : Exit::usage);
      return text.starts_with(begin) ? text.substr(begin.size()) : "";
    }
    return std::string("(accepted)");
  };
  EXPECT_EQ(found([](RecordedRun& run) {
              run.summary->verdict = Verdict::incomplete;
              run.summary->first_wrong = "rank 1 on node1";
            }),
            "wrong data: rank 1 on node1");
  EXPECT_EQ(found([](RecordedRun& run) { run.summary->verdict = Verdict::wrong; }),
            "wrong data: 0 wrong elements");
  EXPECT_EQ(found([](RecordedRun& run) { run.summary->wrong_rows = 1; }),
            "wrong data: 0 wrong elements");
  EXPECT_EQ(found([](RecordedRun& run) { run.summary->exit_code = 7; }), "wrong data: exit code 7");
  EXPECT_EQ(found([](RecordedRun& run) {
              run.summary.reset();
              run.rows[0].in_place.wrong = 5;
            }),
            "wrong data: 8 B float sum in place: 5 wrong elements");
  EXPECT_EQ(found([](RecordedRun& run) {  // a footer that knows nothing of it
              Mismatch& found = run.rows[0].out_of_place.mismatches.emplace_back();
              found.rank = 1;
              found.host = "b";
              found.wrong = 2;
            }),
            "wrong: 8 B float sum out of place: rank 1 on b: 2 wrong, elements 0 to 0: ");
  EXPECT_EQ(found([](RecordedRun& run) {
              run.summary->reproduction.emplace().varying = 1;
              run.summary->reproduction->first_varying = "8 B between calls";
            }),
            "bits vary: 8 B between calls");
  EXPECT_EQ(found([](RecordedRun& run) {
              run.summary.reset();
              run.rows[0].reproduction.emplace().verdict = Reproducibility::varies;
            }),
            "bits vary: 8 B float sum");
  EXPECT_EQ(found([](RecordedRun& run) { run.summary->verdict = Verdict::slow; }), "");
}

TEST(Comparable, ArithmeticOfARowIsTheSameOrNotKnown) {
  NamedRun base = run_of("base.jsonl"), head = run_of("head.jsonl");
  head.run.rows[0].arithmetic = "suite";
  EXPECT_NO_THROW(check_same_arithmetic(base, head));  // an older file
  EXPECT_THAT(differences(base, head),
              ElementsAre("arithmetic differs: 'not known' in base.jsonl, 'suite' in head.jsonl"));
  base.run.rows[0].arithmetic = "suite";
  EXPECT_NO_THROW(check_same_arithmetic(base, head));
  EXPECT_THAT(differences(base, head), IsEmpty());
  base.run.rows[0].arithmetic = "library";
  try {
    check_same_arithmetic(base, head);
    ADD_FAILURE();
  } catch (const UsageError& e) {
    EXPECT_STREQ(
        e.what(),
        "cannot compare: the arithmetic of 8 B float sum is the library's in base.jsonl and "
        "the suite's in head.jsonl; measure both with the same --backend-option reduce, or "
        "add --any-arithmetic");
  }
  head.run.rows[0].bytes = 16;  // another row
  EXPECT_NO_THROW(check_same_arithmetic(base, head));
}

TEST(Comparable, RefusesEmptyRuns) {
  EXPECT_EQ(refusal([](RecordedRun& run) { run.rows.clear(); }),
            "cannot compare: head.jsonl has no rows");
}

TEST(Comparable, VersionsAndMachinesAreNotes) {
  NamedRun head = run_of("head");
  head.run.info.version = "0.2.0";
  head.run.info.library_version = "2.0";
  for (RankLine& line : head.run.info.rank_lines) line.device_name = "CPU model B";
  check_comparable(run_of("base"), head, Routings::any);
  EXPECT_THAT(differences(run_of("base"), head),
              ElementsAre("version differs: '0.1.0' in base, '0.2.0' in head",
                          "library_version differs: '1.0' in base, '2.0' in head",
                          "device_name differs: 'CPU model A' in base, 'CPU model B' in head"));
}

}  // namespace
}  // namespace ccl_tests::compare
