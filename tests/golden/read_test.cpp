// Results files read back: what was written comes back, of this schema and of the first one.
#include "src/record/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "src/core/error.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string write(const TemporaryFolder& directory, const std::string& text) {
  const std::string path = directory.file("in.jsonl");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<RecordedRun> read_text(const std::string& text) {
  const TemporaryFolder directory;
  return read_runs(write(directory, text));
}

std::string written_again(const RecordedRun& run) {
  return samples::file({"", run.info, run.rows, run.summary.value()}, ".jsonl");
}

TEST(ReadRuns, ARunThatIsReadAndWrittenAgainIsTheSameByteForByte) {
  for (const samples::Run& run : samples::all()) {
    const std::string text = samples::file(run, ".jsonl");
    const std::vector<RecordedRun> runs = read_text(text);
    ASSERT_EQ(runs.size(), 1U) << run.name;
    EXPECT_EQ(written_again(runs[0]), text) << run.name;
  }
}

// Ours, and as nccl-tests' own writers lay it out.
TEST(ReadRuns, NcclTestsFilesAreNamed) {
  const TemporaryFolder directory;
  const std::string ours = samples::file(samples::plain(), ".json");
  for (const std::string& text :
       {ours, ours.substr(0, ours.size() - 1),
        std::string("{\n  \"version\": 3,\n  \"nccl_version\": 22803,\n  \"results\": []\n}\n"),
        std::string("{\"version\":3,\"nccl_version\":22803,\"results\":[]}")})
    EXPECT_THAT([&] { read_runs(write(directory, text)); },
                testing::ThrowsMessage<Error>(HasSubstr("in.jsonl has nccl-tests' format")));
  EXPECT_THAT([&] { read_runs(write(directory, "x\n")); },
              testing::ThrowsMessage<Error>(HasSubstr("in.jsonl:1: ")));
}

TEST(ReadRuns, OddStringsComeBack) {
  for (const std::string& odd : samples::odd_strings()) {
    const std::string text = samples::file(samples::with_text(odd), ".jsonl");
    EXPECT_EQ(written_again(read_text(text).at(0)), text) << odd;
  }
}

TEST(ReadRuns, ValuesBecomeMembers) {
  const RecordedRun run = read_text(samples::file(samples::pair_rows(), ".jsonl")).at(0);
  EXPECT_EQ(run.info.program, "pingpong_perf");
  EXPECT_EQ(run.info.options.check.seed, 18446744073709551615U);
  ASSERT_EQ(run.info.rank_lines.size(), 3U);
  EXPECT_EQ(run.info.rank_lines[2].host, "node1");
  EXPECT_EQ(run.info.notes.at(0).kind, NoteKind::verbose);
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[1].pair, RankPair(12, 345));
  EXPECT_EQ(run.rows[0].type, DataType::float32);
  EXPECT_FALSE(run.rows[0].op);
  EXPECT_EQ(run.rows[0].in_place.seconds, 11.5e-6);
  EXPECT_FALSE(run.rows[0].in_place.messages_per_s);
  EXPECT_TRUE(run.rows[0].out_of_place.messages_per_s);
  ASSERT_TRUE(run.summary);
  EXPECT_EQ(run.summary->verified_calls, 24U);
}

TEST(ReadRuns, OneFileMayHoldManyRunsAndAnEndWithoutABeginning) {
  const std::string text = samples::file(samples::plain(), ".jsonl");
  const TemporaryFolder directory;
  const std::string failed = directory.file("out.jsonl");
  RunSummary summary;
  summary.complete = false;
  summary.failure = "rank 1 did not appear";
  file_reporter(failed)->end(summary);
  const std::vector<RecordedRun> runs = read_text(text + samples::read(failed) + text);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[1].summary->failure, "rank 1 did not appear");
  EXPECT_FALSE(runs[1].summary->complete);
  EXPECT_TRUE(runs[1].rows.empty());
  EXPECT_EQ(written_again(runs[2]), text);
}

TEST(ReadRuns, AKilledProcessLeavesWhatItMeasured) {
  const std::string text = samples::file(samples::plain(), ".jsonl");
  std::vector<std::size_t> rows_after;
  std::vector<std::size_t> sizes = {text.size()};
  while (sizes.back() > 0) sizes.push_back(sizes.back() - std::min<std::size_t>(sizes.back(), 61));
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    const std::vector<RecordedRun> runs = read_text(text.substr(0, *size));
    rows_after.push_back(runs.empty() ? 0 : runs[0].rows.size());
    for (const RecordedRun& run : runs) {
      for (const Row& row : run.rows) {
        EXPECT_EQ(row.out_of_place.iterations, 20);
        EXPECT_EQ(row.in_place.iterations, row.in_place.left_out ? 0 : 20);
        EXPECT_TRUE(!row.in_place.left_out || &row == &run.rows.back());
      }
    }
  }
  EXPECT_TRUE(std::is_sorted(rows_after.begin(), rows_after.end()));
  EXPECT_EQ(rows_after.back(), 2U);
}

TEST(ReadRuns, APlacementThatWasLeftOutHasNoLines) {
  const std::string text = samples::file(samples::in_place(), ".jsonl");
  EXPECT_EQ(text.find("\"out_of_place\""), std::string::npos);
  for (const std::size_t lost : {0U, 10U}) {  // bytes of the end: the footer is whole or not
    const RecordedRun run = read_text(text.substr(0, text.size() - lost)).at(0);
    ASSERT_EQ(run.rows.size(), 2U);
    for (const Row& row : run.rows) {
      EXPECT_TRUE(row.out_of_place.left_out);
      EXPECT_FALSE(row.in_place.left_out);
      EXPECT_EQ(row.in_place.iterations, 20);
    }
  }
  EXPECT_EQ(written_again(read_text(text).at(0)), text);
  std::string other = text;
  other.replace(other.find("\"in_place\",\"time_s\""), 10, "\"out_of_place\"");
  EXPECT_THROW(read_text(other), Error);
  EXPECT_FALSE(
      read_text(samples::file(samples::plain(), ".jsonl")).at(0).rows[0].in_place.left_out);
}

TEST(ReadRuns, AnotherSchemaIsRefused) {
  std::string text = samples::file(samples::plain(), ".jsonl");
  const std::string version = "\"schema_version\":2";
  text.replace(text.find(version), version.size(), "\"schema_version\":1");
  EXPECT_THAT([&] { read_text(text); },
              testing::ThrowsMessage<Error>(HasSubstr("schema version 1; this program reads 2")));
}

void expect_refused(const std::string& text, const std::string& line, const std::string& why) {
  EXPECT_THAT([&] { read_text(text); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("in.jsonl:" + line), HasSubstr(why))));
}

TEST(ReadRuns, WhatIsNotAResultsFileIsRefusedWithItsLine) {
  const std::string text = samples::file(samples::plain(), ".jsonl");
  expect_refused("hello\n", "1:", "");
  expect_refused("[]\n", "1:", "not a JSON object");
  expect_refused("{}\n", "1:", "no \"type\"");
  expect_refused("{\"type\":\"header\",\"schema_version\":3}\n", "1:", "schema version 3");
  const std::size_t row = text.find("{\"type\":\"row\"");
  expect_refused(text.substr(row), "1:", "a row without a header");
  std::string strange = text;
  strange.replace(strange.find("\"float\""), 7, "\"quark\"");
  expect_refused(strange, "2:", "datatype: 'quark' is not a type");
  EXPECT_THAT([] { read_runs("/no/such.jsonl"); },
              testing::ThrowsMessage<Error>(HasSubstr("'/no/such.jsonl': No such file")));
}

}  // namespace
}  // namespace ccl_tests
