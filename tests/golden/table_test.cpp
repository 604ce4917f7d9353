// What scripts in the field read from nccl-tests' output can be read from ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "src/core/error.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using samples::lines;
using samples::tokens;

std::vector<std::string> data_lines(const std::string& table) {
  std::vector<std::string> found;
  for (const std::string& line : lines(table)) {
    if (line.empty() || line[0] != '#') found.push_back(line);
  }
  return found;
}

int matches(const std::string& table, const std::string& pattern) {
  const std::regex regex(pattern);
  const std::vector<std::string> all = lines(table);
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const std::string& line) {
    return std::regex_search(line, regex);
  }));
}

// Tokens that a placement has beside its time, bandwidths and wrong elements.
std::size_t more_tokens(const RunInfo& run) {
  const bool stats = run.options.output.stats;
  return (run.options.measure.per_iteration || stats ? 4U : 0U) +
         (stats && run.options.measure.samples ? 1U : 0U) + (stats && run.ceiling ? 1U : 0U);
}

TEST(Table, RowsHave13TokensAndTimestampsTwoMore) {
  for (const samples::Run& run : samples::all()) {
    const std::vector<std::string> rows = data_lines(samples::table(run));
    ASSERT_EQ(rows.size(), samples::shown_rows(run.rows)) << run.name;
    for (const std::string& row : rows) {
      EXPECT_EQ(tokens(row).size(), 13U + (run.record.options.output.timestamps ? 2U : 0U) +
                                        2 * more_tokens(run.record))
          << row;
    }
  }
}

TEST(Table, NumbersOfAPlacementThatWasLeftOutAreNotAvailable) {
  samples::Run run = samples::in_place();
  for (const std::string& row : data_lines(samples::table(run))) {
    const std::vector<std::string> all = tokens(row);
    EXPECT_EQ(std::vector(all.begin() + 5, all.begin() + 9), std::vector<std::string>(4, "N/A"));
    EXPECT_EQ(std::count(all.begin() + 9, all.end(), "N/A"), 0);
  }
  run.record.options.measure.per_iteration = true;
  for (Row& row : run.rows) row.in_place.per_iteration = IterationTimes{0, {1e-6}};
  for (const std::string& row : data_lines(samples::table(run)))
    EXPECT_EQ(tokens(row).size(), 21U) << row;
  for (Row& row : run.rows) row.in_place.steps = {1e-6, 8e-6, 1e-6};
  EXPECT_EQ(
      matches(samples::table(run), "^#   steps: sizes 10.0 %, payload 80.0 %, packing 10.0 %$"), 2);
}

// Scripts that want 13 tokens would drop a row that has its pair or group among them.
TEST(Table, AGroupOrPairIsACommentBelowItsRow) {
  for (const samples::Run& run : samples::all()) {
    const std::vector<std::string> all = lines(samples::table(run));
    std::vector<std::string> below;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].starts_with("#   pair: ") || all[i].starts_with("#   group: "))
        below.push_back(tokens(all[i - 1])[0] + " " + all[i]);
    }
    std::vector<std::string> expected;
    if (run.name == "pair_rows") expected = {"8 #   pair: 0:1", "1048576 #   pair: 12:345"};
    if (run.name == "group_rows") expected = {"8 #   group: 0", "1048576 #   group: 1"};
    EXPECT_EQ(below, expected) << run.name;
  }
}

TEST(Table, NumbersHaveNoSignExponentInfOrNan) {
  const std::regex number("[0-9]+(\\.[0-9]+)?");
  const std::regex wrong("[0-9]+|N/A");
  for (const samples::Run& run : samples::all()) {
    for (const std::string& row : data_lines(samples::table(run))) {
      const std::vector<std::string> columns = tokens(row);
      ASSERT_GE(columns.size(), 13U);
      for (const std::size_t first : {std::size_t{5}, 9 + more_tokens(run.record)}) {
        for (std::size_t i = first; i < first + 3; ++i) {
          EXPECT_TRUE(std::regex_match(columns[i], number)) << columns[i];
        }
        EXPECT_TRUE(std::regex_match(columns[first + 3], wrong)) << columns[first + 3];
      }
    }
  }
}

TEST(Table, ParsersRegexesHold) {
  for (const samples::Run& run : samples::all()) {
    const std::string table = samples::table(run);
    const int at_the_end = run.summary.complete ? 1 : 0;
    EXPECT_EQ(matches(table, R"(^#?\s*Avg bus bandwidth\s*:\s*([\d.]+) (OK|FAILED)?$)"),
              at_the_end);
    EXPECT_EQ(matches(table, R"(^# Out of bounds values : (\d+) (OK|FAILED)$)"), at_the_end);
    EXPECT_EQ(matches(table, "^# Test failure: .+"), 1 - at_the_end);
    EXPECT_EQ(matches(table, R"(^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+([\d.]+)\s)"),
              static_cast<int>(samples::shown_rows(run.rows)));
    EXPECT_EQ(matches(table, R"(^#  Rank +\d+ Group +\d+ Pid +\d+ on +\S+ device +\d+ \[\S+\] )"),
              static_cast<int>(std::min<std::size_t>(run.record.rank_lines.size(), 15)));
    EXPECT_EQ(matches(table, "^# Collective test starting: " + run.record.program + "$"), 1);
    EXPECT_EQ(matches(table, "^# Collective test concluded: " + run.record.program + "$"),
              at_the_end);
    EXPECT_EQ(matches(table, R"(^# nThread \d+ nGpus \d+ minBytes \d+ maxBytes \d+ step: \d+\()"),
              1);
  }
}

// superbenchmark counts columns from the end of the header line that has "time" and "busbw".
TEST(Table, HeaderWordsLineUpWithTheTokensOfRows) {
  const std::string table = samples::table(samples::plain());
  for (const std::string& line : lines(table)) {
    std::vector<std::string> words = tokens(line);
    if (std::count(words.begin(), words.end(), "busbw") == 0) continue;
    words.erase(words.begin());
    EXPECT_EQ(words,
              (std::vector<std::string>{"size", "count", "type", "redop", "root", "time", "algbw",
                                        "busbw", "#wrong", "time", "algbw", "busbw", "#wrong"}));
    for (const std::string& row : data_lines(table)) EXPECT_EQ(row.size() + 1, line.size());
  }
  EXPECT_EQ(matches(table, "algbw   busbw"), 1);
}

TEST(Table, OnlyRowsStandOutsideCommentsWhateverTheStringsHold) {
  for (const std::string& text : samples::odd_strings()) {
    const samples::Run run = samples::with_text(text);
    const std::string table = samples::table(run);
    EXPECT_EQ(data_lines(table).size(), run.rows.size()) << text;
    EXPECT_EQ(matches(table, "^# Out of bounds values : 0 OK$"), 1) << text;
  }
}

// What NVIDIA/cloudai takes for success: these words are anywhere in standard output, those nowhere.
bool cloudai_succeeds(const std::string& out) {
  const auto has = [&](const char* words) { return out.find(words) != std::string::npos; };
  return has("# Out of bounds values") && has("# Avg bus bandwidth") && !has("Test failure");
}

TEST(Table, CloudaiTakesARunForSuccessfulOnlyIfItReachedItsEnd) {
  for (const samples::Run& run : samples::all())
    EXPECT_EQ(cloudai_succeeds(samples::table(run)), run.summary.complete) << run.name;
}

TEST(Table, NoTextFromOutsideDecidesWhetherARunSucceeded) {
  for (const std::string& text : samples::odd_strings()) {
    samples::Run run = samples::with_text(text);
    EXPECT_TRUE(cloudai_succeeds(samples::table(run))) << text;
    run.summary.complete = false;
    run.summary.failure = text;
    EXPECT_FALSE(cloudai_succeeds(samples::table(run))) << text;
    const std::string table = samples::table(run);
    EXPECT_NE(table.find("\n# Test failure: "), std::string::npos) << text;
    for (const char* words : {"# Out of bounds values", "# Avg bus bandwidth", "test concluded"})
      EXPECT_EQ(table.find(words), std::string::npos) << text;
  }
}

TEST(Table, ARunThatNeverBeganIsOneLineOfFailure) {
  samples::Run run = samples::plain();
  run.summary.complete = false;
  run.summary.failure = "rank 1 did not appear";
  EXPECT_EQ(samples::table_without_begin(run.summary), "# Test failure: rank 1 did not appear\n");
}

TEST(Table, HasAtMostTenLinesAndOneForEachOfUpTo16RanksBeforeTheFirstRow) {
  for (int ranks : {1, 2, 3, 16, 17, 1000}) {
    samples::Run run = samples::plain();
    run.record.notes.push_back({NoteKind::warning, "slow", "do this"});
    run.record.notes.push_back({NoteKind::note, "mode: ring"});
    run.record.rank_lines.assign(static_cast<std::size_t>(ranks), RankLine());
    const std::vector<std::string> all = lines(samples::table(run));
    const auto first = std::find_if(all.begin(), all.end(),
                                    [](const std::string& line) { return line[0] != '#'; });
    EXPECT_EQ(first - all.begin(), 10 + std::min(ranks, 16));
    EXPECT_EQ(all.at(4), "# WARNING: slow; do this");
    EXPECT_EQ(all.at(5), "# Using devices");
  }
}

TEST(Table, NotesThatDoNotConcernTheRunAreShownWithVerboseOnly) {
  samples::Run run = samples::plain();
  run.record.notes = {{NoteKind::verbose, "avg is composed"},
                      {NoteKind::warning, "one", "a"},
                      {NoteKind::warning, "two", "b"}};
  EXPECT_EQ(matches(samples::table(run), "avg is composed|two"), 0);
  EXPECT_EQ(matches(samples::table(run), "^# WARNING: one; a \\(and 1 more: --verbose\\)$"), 1);
  run.record.options.output.verbose = true;
  EXPECT_EQ(matches(samples::table(run), "^# avg is composed$|^# two; b$"), 2);
}

TEST(Table, FooterLinesHaveAtMost100ColumnsAndWordsOfAClosedList) {
  for (const samples::Run& run : samples::all()) {
    const std::string table = samples::table(run);
    EXPECT_EQ(matches(table, "^# Verdict  : (OK|SLOW|VARIES|WRONG|UNRELIABLE|INCOMPLETE) - "), 1);
    EXPECT_EQ(matches(table, "^# Correct  : (yes|no|so far|not checked) - "), 1);
    EXPECT_EQ(matches(table, "^# Bits     : (the same again|vary) - "),
              run.summary.reproduction ? 1 : 0);
    const std::vector<std::string> all = lines(table);
    const auto verdict = std::find_if(all.begin(), all.end(), [](const std::string& line) {
      return line.starts_with("# Verdict");
    });
    for (auto line = verdict; line != all.end(); ++line) EXPECT_LE(line->size(), 100U) << *line;
  }
}

TEST(Table, OneOfAThingIsNotCalledSeveral) {
  samples::Run run = samples::stream();
  RunSummary& summary = run.summary;
  summary.rows = summary.times = summary.calls = summary.verified_calls = 1;
  summary.soak = Soak{.seconds = 60, .cycles = 1};
  summary.unusual_times = summary.unbounded_times = summary.stolen_times = 0;
  for (const std::size_t wide : {0U, 1U}) {
    summary.wide_times = wide;
    const std::string table = samples::table(run);
    EXPECT_EQ(matches(table, "of 1 call verified"), 1);
    EXPECT_EQ(matches(table, wide == 0 ? ": yes - the time is within" : "- 1 of 1 time not within"),
              1);
    EXPECT_EQ(matches(table, "60 s, 1 cycle; no error in 1 verified operation: "), 1);
    EXPECT_EQ(matches(table, "[^0-9]1 (rows|calls|cycles|times|operations)"), 0);
  }
}

TEST(Table, SaysThatOtherProgramsUsedTheCpus) {
  samples::Run run = samples::stream();
  run.summary.wide_times = run.summary.stolen_times = 0;
  for (const bool beside : {false, true}) {
    run.summary.cpu_use = CpuUse{.cpus = 2, .others = beside ? 0.96 : 0.04, .idle = 0.02};
    const std::string table = samples::table(run);
    EXPECT_EQ(matches(table, ": yes - all 4 times are within"), beside ? 0 : 1);
    const std::string unwrapped = std::regex_replace(table, std::regex("\n# {4,}"), " ");
    EXPECT_EQ(matches(unwrapped, "other programs used 1.0 of 2 CPUs"), beside ? 2 : 0) << unwrapped;
    EXPECT_EQ(matches(table, "^# Next     : stop the other programs"), beside ? 1 : 0);
  }
}

TEST(Table, ProposesMpiToThoseAloneWhoDoNotUseIt) {
  samples::Run run = samples::stream();
  run.summary.verdict = Verdict::unreliable;
  run.record.oversubscribed = true;
  for (const char* const backend : {"gloo", "gloo-20260421", "mpi-mpich", "nccl"}) {
    run.record.backend = backend;
    const std::string table = samples::table(run);
    EXPECT_EQ(matches(table, "^# Next     : (fewer ranks or )?more CPUs"), 1) << table;
    EXPECT_EQ(matches(table, "over MPI ranks have"),
              run.record.backend.starts_with("gloo") ? 1 : 0);
  }
}

TEST(Table, ProposesWhatHelpsALimitThatIsNotDecided) {
  samples::Run run = samples::stream();
  run.summary.limits = {{.verdict = LimitVerdict::undecided,
                         .flag = "--baseline",
                         .value = 1.1,
                         .text = "not decided: 8 B"}};
  EXPECT_EQ(matches(samples::table(run), "^# Next     : a quieter machine, three earlier runs"), 1);
  run.summary.cpu_use = CpuUse{.cpus = 2, .others = 0.96, .idle = 0.02};
  EXPECT_EQ(matches(samples::table(run), "^# Next     : stop the other programs"), 1);
}

TEST(Table, SaysWidthsWithoutExponents) {
  samples::Run run = samples::stream();
  run.summary.unbounded_times = 0;
  run.summary.usual_width = 0.05;
  run.summary.unusual_times = 1;
  run.summary.widest = 49.83;
  EXPECT_EQ(matches(samples::table(run), "up to \\+-4983 %"), 1);
}

TEST(Table, NamesTheFilesThatItsRunWrites) {
  samples::Run run = samples::plain();
  run.record.output_files = {"out.7/a.json.12", "b.0.csv", "c.jsonl"};
  EXPECT_EQ(matches(samples::table(run), "^# Writing JSON output to out.7/a.json.12$"), 1);
  EXPECT_EQ(matches(samples::table(run), "^# Writing CSV output to b.0.csv$"), 1);
  EXPECT_EQ(matches(samples::table(run), "^# Writing JSON Lines output to c.jsonl$"), 1);
}

TEST(Table, RowWithoutOperationKeeps13Tokens) {
  samples::Run run = samples::plain();
  run.rows[0].op.reset();
  EXPECT_EQ(tokens(data_lines(samples::table(run))[0]).at(3), "none");
}

std::string average_line(double bandwidth) {
  samples::Run run = samples::plain();
  run.summary.average_busbw = bandwidth;
  for (const std::string& line : lines(samples::table(run))) {
    if (line.find("Avg bus") != std::string::npos) return line.substr(25);
  }
  return {};
}

TEST(Table, AverageIsPrintfGWithoutExponents) {
  EXPECT_EQ(average_line(84.85581), "84.8558 ");
  EXPECT_EQ(average_line(0), "0 ");
  EXPECT_EQ(average_line(0.0001), "0.0001 ");
  EXPECT_EQ(average_line(0.0000123456), "0.0000123456 ");
  EXPECT_EQ(average_line(1e-11), "0 ");
  EXPECT_EQ(average_line(999999.4), "999999 ");
  EXPECT_EQ(average_line(999999.5), "1000000 ");
  EXPECT_EQ(average_line(2.5e9), "2500000000 ");
  EXPECT_EQ(average_line(0.0 / 0.0), "0 ");
}

TEST(Table, IsFlushedAfterEveryRow) {
  const TemporaryFolder directory;
  const std::string path = directory.file("table");
  std::FILE* out = std::fopen(path.c_str(), "w");
  ASSERT_NE(out, nullptr);
  const samples::Run run = samples::plain();
  const auto reporter = table_reporter(out);
  reporter->begin(run.record);
  EXPECT_EQ(data_lines(samples::read(path)).size(), 0U);
  EXPECT_EQ(matches(samples::read(path), "#wrong"), 1);
  reporter->row(run.rows[0]);
  EXPECT_EQ(data_lines(samples::read(path)).size(), 1U);
  reporter->row(run.rows[1]);
  EXPECT_EQ(data_lines(samples::read(path)).size(), 2U);
  std::fclose(out);
}

TEST(Table, AStreamThatTakesNothingIsAnError) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THROW(table_reporter(full)->begin(samples::plain().record), Error);
  std::fclose(full);
}

}  // namespace
}  // namespace ccl_tests
