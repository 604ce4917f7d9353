// Documents for other tools: valid at every moment, whatever the texts in them; what they say of wrong data and of limits. The tools
// themselves read them in tests/system/exports_test.sh.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/core/error.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"
#include "src/report/run_results.hpp"
#include "src/report/verdict_file.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* suffixes[] = {".xml", ".md", ".gbench.json", ".bmf.json"};
bool for_people(const std::string& suffix) { return suffix == ".xml" || suffix == ".md"; }

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

void expect_whole(const std::string& text, const std::string& suffix) {
  if (suffix.ends_with(".json")) {
    EXPECT_TRUE(json::accept(text)) << suffix << ": " << text;
  } else if (suffix == ".xml") {
    EXPECT_THAT(text, testing::StartsWith("<?xml "));
    EXPECT_THAT(text, testing::EndsWith("</testsuites>\n"));
    EXPECT_EQ(count(text, "<testcase "), count(text, "</testcase>"));
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" ", count(text, "<testcase "),
                    count(text, "<failure "), count(text, "<error "));
    EXPECT_THAT(text, HasSubstr("<testsuites name=\"ccl-tests\" " + counts));
    EXPECT_THAT(text, HasSubstr("\" skipped=\"0\" " + counts));
  }
}

TEST(Exports, AreWholeFromTheStartAndAfterEveryRow) {
  for (const samples::Run& run : samples::all()) {
    for (const std::string suffix : suffixes) {
      const TemporaryFolder directory;
      const std::string path = directory.file("out" + suffix);
      const auto reporter = file_reporter(path);
      expect_whole(samples::read(path), suffix);
      reporter->begin(run.record);
      expect_whole(samples::read(path), suffix);
      for (const Row& row : run.rows) {
        reporter->row(row);
        expect_whole(samples::read(path), suffix);
      }
      if (for_people(suffix)) {
        EXPECT_THAT(samples::read(path), HasSubstr("he run has not reached its end"));
      }
      reporter->end(run.summary);
      expect_whole(samples::read(path), suffix);
      EXPECT_THAT(samples::read(path), Not(HasSubstr("has not reached its end")));
    }
  }
}

TEST(Exports, AreWholeWhenARunEndsBeforeItBegan) {
  for (const std::string suffix : suffixes) {
    const TemporaryFolder directory;
    const std::string path = directory.file("out" + suffix);
    RunSummary summary;
    summary.verdict = Verdict::incomplete;
    summary.failure = "rank 1 has not come";
    file_reporter(path)->end(summary);
    expect_whole(samples::read(path), suffix);
    if (for_people(suffix)) {
      EXPECT_THAT(samples::read(path), HasSubstr("rank 1 has not come"));
    }
  }
}

TEST(Exports, OddStringsBreakNone) {
  for (const std::string& odd : samples::odd_strings()) {
    const samples::Run run = samples::with_text(odd);
    for (const std::string suffix : suffixes) {
      const std::string text = samples::file(run, suffix);
      expect_whole(text, suffix);
      if (suffix != ".xml") continue;
      std::size_t cells = 0;
      for (const Row& row : run.rows) for_each_cell(row, [&](auto, const auto&) { ++cells; });
      EXPECT_GE(count(text, "<testcase "), cells + 1);
      EXPECT_EQ(count(text, "<testsuite "), 1U);
      for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    }
  }
}

TEST(Exports, WrongDataAreAFailureAndNoTime) {
  samples::Run wrong = samples::plain();
  Measurement& cell = wrong.rows[1].out_of_place;
  cell.wrong = 3;
  Mismatch& mismatch = cell.mismatches.emplace_back();
  mismatch.rank = 2;
  mismatch.host = "node1";
  mismatch.wrong = 3;
  const std::string xml = samples::file(wrong, ".xml");
  EXPECT_EQ(count(xml, "<failure "), 1U);
  EXPECT_THAT(xml, HasSubstr("rank 2 on node1"));
  const json benchmarks = json::parse(samples::file(wrong, ".gbench.json")).at("benchmarks");
  ASSERT_EQ(benchmarks.size(), 3U);
  EXPECT_EQ(benchmarks[2].at("name"), benchmark_name(wrong.record, wrong.rows[1], true));
  EXPECT_EQ(benchmarks[2].at("time_unit"), "us");
  EXPECT_EQ(json::parse(samples::file(wrong, ".bmf.json")).size(), 3U);
}

// Readers compare the cells of several runs that have one name.
TEST(Exports, ARunThatDiffersHasOtherNames) {
  samples::Run run = samples::plain();
  RunInfo& info = run.record;
  info.options.output.label.clear();
  const auto name = [&] { return benchmark_name(info, run.rows.front(), false); };
  const std::string plain = "all_reduce_perf/gloo/ranks:3/float/sum/bytes:8/out_of_place";
  EXPECT_EQ(name().substr(0, plain.find("/bytes")), plain.substr(0, plain.find("/bytes")));
  const auto has = [&](const std::string& text, const std::string& others) {
    EXPECT_THAT(name(), HasSubstr("/float/sum/" + text + "/bytes:"));
    for (const char* const suffix : {".xml", ".md"})
      EXPECT_THAT(samples::file(run, suffix), HasSubstr(others)) << suffix;
  };
  info.options.output.label = "ring1";
  has("label:ring1", "label:ring1");
  EXPECT_THAT(samples::file(run, ".csv"), HasSubstr(",ring1,"));
  info.options.output.label.clear();
  info.processes = 3;
  has("processes:3", "processes:3");
  info.backend = "mpi-openmpi";
  EXPECT_THAT(name(), Not(HasSubstr("processes")));
  info.processes = 1;
  info.backend = "gloo";
  info.unusual = {{"cache", std::string("cold")}, {"reproducible", true}};
  info.environment = {"NCCL_ALGO=Ring", "NCCL_IB_HCA=mlx5_0"};
  has("cache:cold/reproducible/NCCL_ALGO=Ring", "cache:cold");
  EXPECT_THAT(samples::file(run, ".prom"),
              HasSubstr(",settings=\"cache:cold, reproducible, NCCL_ALGO=Ring\""));
}

TEST(Exports, OfNamesThatRepeatBencherHasTheFirst) {
  samples::Run run = samples::plain();
  run.rows.push_back(run.rows.front());
  run.rows.back().cycle = 1;
  run.rows.back().out_of_place.seconds = 1;
  const json metrics = json::parse(samples::file(run, ".bmf.json"));
  EXPECT_EQ(metrics.size(), 4U);
  const json& first = metrics.at(benchmark_name(run.record, run.rows.front(), false)).at("latency");
  EXPECT_NEAR(first.at("value"), run.rows.front().out_of_place.seconds * 1e9, 1e-3);
  EXPECT_EQ(json::parse(samples::file(run, ".gbench.json")).at("benchmarks").size(), 6U);
}

void write(const samples::Run& run, const std::string& path) {
  const auto reporter = file_reporter(path);
  reporter->begin(run.record);
  for (const Row& row : run.rows) reporter->row(row);
  reporter->end(run.summary);
}

// So that a run which is killed leaves no earlier run's.
TEST(Prometheus, SaysThatARunIsIncompleteUntilItsEnd) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.prom");
  const samples::Run run = samples::plain();
  const auto expect_incomplete = [&](const std::string& program) {
    const std::string text = samples::read(path);
    EXPECT_THAT(text, HasSubstr("ccl_tests_verdict{program=\"" + program));
    EXPECT_THAT(text, HasSubstr(",state=\"incomplete\"} 1\n"));
    EXPECT_THAT(text, HasSubstr(",state=\"ok\"} 0\n"));
    EXPECT_THAT(text, testing::EndsWith("\n# EOF\n"));
    EXPECT_THAT(text, Not(HasSubstr("ccl_tests_exit_code")));
    EXPECT_THAT(text, Not(HasSubstr("ccl_tests_time_seconds")));
  };
  write(run, path);
  const auto killed = file_reporter(path);
  expect_incomplete("");
  EXPECT_THAT(samples::read(path),
              HasSubstr("last_success_timestamp_seconds{program=\"all_reduce_perf"));
  killed->begin(run.record);
  expect_incomplete("all_reduce_perf");
  killed->row(run.rows[0]);
  expect_incomplete("all_reduce_perf");
  EXPECT_THAT(samples::read(path),
              HasSubstr("last_success_timestamp_seconds{program=\"all_reduce_perf"));
}

TEST(Files, WhatIsWrittenOverIsMarkedBeforeAStart) {
  const TemporaryFolder directory;
  const samples::Run run = samples::plain();
  OutputOptions options;
  options.verdict = directory.file("verdict.json");
  options.files = {directory.file("a.prom"), directory.file("kept.jsonl")};
  verdict_reporter(options.verdict)->end(run.summary);
  write(run, options.files[0]);
  write(run, options.files[1]);
  const std::string kept = samples::read(options.files[1]);
  mark_unfinished(options);
  EXPECT_THAT(samples::read(options.verdict), HasSubstr("\"verdict\":\"incomplete\""));
  EXPECT_THAT(samples::read(options.files[0]), HasSubstr(",state=\"incomplete\"} 1\n"));
  EXPECT_EQ(samples::read(options.files[1]), kept);
  EXPECT_FALSE(std::filesystem::exists(directory.file("kept.0.jsonl")));
}

TEST(Prometheus, IsReplacedByTheNextRun) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.prom");
  const samples::Run run = samples::stream();
  write(run, path);
  const std::string first = samples::read(path);
  EXPECT_THAT(first, testing::EndsWith("\n# EOF\n"));
  EXPECT_EQ(count(first, "\nccl_tests_last_success_timestamp_seconds{"), 1U);
  samples::Run other = run;
  other.rows.front().out_of_place.seconds = 1.5;
  write(other, path);
  EXPECT_THAT(samples::read(path), HasSubstr("placement=\"out_of_place\"} 1.5\n"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Prometheus, AFailureKeepsTheLastSuccess) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.prom");
  samples::Run failed = samples::plain();
  failed.summary.exit_code = 5;
  failed.summary.verdict = Verdict::incomplete;
  write(failed, path);
  EXPECT_THAT(samples::read(path), Not(HasSubstr("last_success")));
  write(samples::plain(), path);
  const std::string good = samples::read(path);
  const std::size_t at = good.find("\nccl_tests_last_success_timestamp_seconds{");
  ASSERT_NE(at, std::string::npos);
  const std::string line = good.substr(at, good.find('\n', at + 1) - at);
  write(failed, path);
  EXPECT_THAT(samples::read(path), HasSubstr(line));
  EXPECT_THAT(samples::read(path), HasSubstr("state=\"incomplete\"} 1\n"));
}

TEST(Prometheus, WrongDataOfACycleHideItsTimes) {
  for (const std::size_t bad : {0, 1}) {
    const TemporaryFolder directory;
    const std::string path = directory.file("out.prom");
    samples::Run run = samples::plain();
    run.rows = {run.rows.front(), run.rows.front()};
    run.rows[1].cycle = 1;
    run.rows[bad].in_place.wrong = 3;
    write(run, path);
    EXPECT_THAT(samples::read(path), HasSubstr("placement=\"in_place\"} 3\n"));
    for (const std::string& line : samples::lines(samples::read(path))) {
      if (!line.starts_with("ccl_tests_time_seconds")) continue;
      EXPECT_THAT(line, HasSubstr("out_of_place"));
    }
  }
}

TEST(Prometheus, WhatALinkLeadsToIsReplacedAndKeepsItsMode) {
  const TemporaryFolder directory;
  const std::string target = directory.file("real.txt"), link = directory.file("out.prom");
  std::ofstream(target) << "old";
  std::filesystem::permissions(target, std::filesystem::perms(0640));
  std::filesystem::create_symlink(target, link);
  write(samples::plain(), link);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_THAT(samples::read(target), HasSubstr("ccl_tests_exit_code"));
  EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::perms(0640));
}

// -n 0: a time of 0 would be the fastest of all.
TEST(Exports, WhatIsNotTimedHasNoTime) {
  samples::Run run = samples::plain();
  for (Row& row : run.rows) {
    for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
      cell->iterations = 0;
      cell->seconds = 0;
    }
  }
  EXPECT_EQ(json::parse(samples::file(run, ".bmf.json")).size(), 0U);
  EXPECT_EQ(json::parse(samples::file(run, ".gbench.json")).at("benchmarks").size(), 0U);
  EXPECT_EQ(count(samples::file(run, ".md"), "not timed"), 4U);
  EXPECT_EQ(count(samples::file(run, ".xml"), "not timed"), 4U);
  const TemporaryFolder directory;
  write(run, directory.file("out.prom"));
  EXPECT_THAT(samples::read(directory.file("out.prom")), Not(HasSubstr("time_seconds{")));
}

TEST(Exports, SayThatARunIsUnreliable) {
  samples::Run run = samples::stream();
  run.summary.verdict = Verdict::unreliable;
  run.summary.exit_code = 0;
  for (const char* suffix : {".md", ".xml"})
    EXPECT_THAT(
        samples::file(run, suffix),
        AllOf(HasSubstr("UNRELIABLE: do not quote the times: 2 of 4 times as precise as was "
                        "asked for; 6 measured again 1.8 s later repeat within "),
              HasSubstr("2 CPUs for 4 busy threads; use fewer ranks")))
        << suffix;
  run.summary.verdict = Verdict::ok;
  EXPECT_THAT(samples::file(run, ".md"), Not(HasSubstr("UNRELIABLE")));
}

TEST(Prometheus, OddStringsStayInTheirLabels) {
  const testing::Matcher<std::string> sample = testing::MatchesRegex(
      "ccl_tests_[a-z_]+[{]([a-z_]+=\"([^\"\\\\]|\\\\\"|\\\\\\\\)*\",?)+[}] [-+.e0-9]+");
  for (const std::string& odd : samples::odd_strings()) {
    const TemporaryFolder directory;
    const std::string path = directory.file("out.prom");
    write(samples::with_text(odd), path);
    for (const std::string& line : samples::lines(samples::read(path))) {
      if (line.starts_with('#')) continue;
      EXPECT_THAT(line, sample);
    }
  }
}

TEST(Prometheus, RunsThatDifferInTheirLabelDoNotClash) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.prom");
  samples::Run run = samples::plain();
  run.record.options.output.label = "new \"switch\"";
  write(run, path);
  for (const std::string& line : samples::lines(samples::read(path))) {
    if (line.starts_with('#')) continue;
    EXPECT_THAT(line, HasSubstr(R"(,label="new \"switch\"")"));
  }
  run.record.options.output.label.clear();
  write(run, path);
  for (const std::string& line : samples::lines(samples::read(path))) {
    if (line.starts_with("ccl_tests_last_success")) continue;  // of the run before, too
    EXPECT_THAT(line, Not(HasSubstr("label=")));
  }
}

TEST(Prometheus, PathsThatCannotBeWrittenAreRefusedAtOnce) {
  const TemporaryFolder directory;
  EXPECT_THROW(file_reporter(directory.file("missing/out.prom")), UsageError);
  std::filesystem::create_directory(directory.file("folder.prom"));
  EXPECT_THROW(file_reporter(directory.file("folder.prom")), UsageError);
}

}  // namespace
}  // namespace ccl_tests
