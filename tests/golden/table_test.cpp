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

TEST(Table, RowsHave13TokensAndTimestampsTwoMoreAndGroupsOrPairsOne) {
  for (const samples::Run& run : samples::all()) {
    const std::vector<std::string> rows = data_lines(samples::table(run));
    ASSERT_EQ(rows.size(), run.rows.size()) << run.name;
    for (const std::string& row : rows) {
      EXPECT_EQ(tokens(row).size(), 13U + (run.record.timestamps ? 2U : 0U) +
                                        (run.record.group_rows ? 1U : 0U) +
                                        (run.record.pair_rows ? 1U : 0U))
          << row;
    }
  }
}

TEST(Table, NumbersHaveNoSignExponentInfOrNan) {
  const std::regex number("[0-9]+(\\.[0-9]+)?");
  const std::regex wrong("[0-9]+|N/A");
  for (const samples::Run& run : samples::all()) {
    for (const std::string& row : data_lines(samples::table(run))) {
      const std::vector<std::string> columns = tokens(row);
      ASSERT_GE(columns.size(), 13U);
      for (const std::size_t first : {5U, 9U}) {
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
    EXPECT_EQ(matches(table, R"(^#?\s*Avg bus bandwidth\s*:\s*([\d.]+) (OK|FAILED)?$)"), 1);
    EXPECT_EQ(matches(table, R"(^# Out of bounds values : (\d+) (OK|FAILED)$)"), 1);
    EXPECT_EQ(matches(table, R"(^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+([\d.]+)\s)"),
              static_cast<int>(run.rows.size()));
    EXPECT_EQ(matches(table, R"(^#  Rank +\d+ Group +\d+ Pid +\d+ on +\S+ device +\d+ \[\S+\] )"),
              3);
    EXPECT_EQ(matches(table, "^# Collective test starting: " + run.record.program + "$"), 1);
    EXPECT_EQ(matches(table, "^# Collective test concluded: " + run.record.program + "$"), 1);
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

TEST(Table, RowWithoutOperationKeeps13Tokens) {
  samples::Run run = samples::plain();
  run.rows[0].op.clear();
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
  const samples::Directory directory;
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
