// What programs in the field take from nccl-tests' output, out of our committed tables: their
// expressions and column numbers, as their sources have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "src/core/types.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using samples::lines;
using samples::tokens;

std::string committed_table(const samples::Run& run) {
  return samples::read(CCL_GOLDEN_DIR "/" + run.name + ".txt");
}

// Runs without flags that add columns, whose tables such programs do not read from nccl-tests either.
std::vector<samples::Run> usual_runs() {
  std::vector<samples::Run> runs = samples::all();
  std::erase_if(runs, [](const samples::Run& run) {
    const Options& o = run.record.options;
    return o.output.timestamps || o.measure.per_iteration || o.output.stats;
  });
  return runs;
}

std::vector<std::string> rows(const std::string& table) {
  std::vector<std::string> found = lines(table);
  std::erase_if(found, [](const std::string& line) { return line.starts_with('#'); });
  return found;
}

// A row: where its size and one of its bandwidths are.
struct RowExpression {
  const char* program;
  const char* pattern;
  std::size_t size, busbw;  // groups of the pattern
  std::size_t column;       // of busbw
  bool checked;             // does not match N/A
};

constexpr RowExpression row_expressions[] = {
    {"NVIDIA/aicr", R"(\s+(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+))", 1, 2, 7,
     false},
    {"xxrjun/nccl-tests-cluster",
     R"(^\s*(\d+)\s+\d+\s+\S+\s+\S+\s+-?\d+\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+\d+\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+))",
     1, 7, 11, true},
    {"a summary of pairs of nodes",
     R"(^\s*(\d+)\s+\d+\s+\S+\s+\S+\s+\S+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(?:\S+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(?:\S+)\s*$)",
     1, 4, 7, false},
    {"several", R"(^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s)",
     1, 8, 7, false},
};

TEST(Consumers, ExpressionsOfRowsFindSizeAndBandwidth) {
  for (const RowExpression& e : row_expressions) {
    const std::regex pattern(e.pattern);
    std::size_t found = 0;
    for (const samples::Run& run : usual_runs()) {
      const std::vector<std::string> all = rows(committed_table(run));
      EXPECT_EQ(all.size(), samples::shown_rows(run.rows)) << run.name;
      for (const std::string& row : all) {
        const std::vector<std::string> columns = tokens(row);
        if (e.checked && std::count(columns.begin(), columns.end(), "N/A") > 0) continue;
        std::smatch match;
        const std::string text = "\n" + row;  // as in the whole output
        ASSERT_TRUE(std::regex_search(text, match, pattern)) << e.program << ": " << row;
        EXPECT_EQ(match.str(e.size), columns[0]) << e.program;
        EXPECT_EQ(match.str(e.busbw), columns[e.column]) << e.program;
        ++found;
      }
    }
    EXPECT_GT(found, 20U) << e.program;
  }
}

TEST(Consumers, ExpressionsOfRowsFindNothingElse) {
  for (const RowExpression& e : row_expressions) {
    const std::regex pattern(e.pattern);
    for (const samples::Run& run : samples::all()) {
      for (const std::string& line : lines(committed_table(run)))
        EXPECT_TRUE(!line.starts_with('#') || !std::regex_search(line, pattern)) << line;
    }
  }
}

// A line that a run has once: always, or only if it reached its end.
struct LineExpression {
  const char* program;
  const char* pattern;
  bool at_the_end;
};

constexpr LineExpression line_expressions[] = {
    {"several", R"(^#?\s*Avg bus bandwidth\s*:\s*([\d.]+))", true},
    {"ROCm/cvs", R"(#\sAvg bus bandwidth\s+:\s+[0-9\.]+)", true},
    {"facebookresearch/gcm", R"(Avg bus bandwidth.*[-+]?(\d*\.*\d+))", true},
    {"NVIDIA/ai-cloud-validation", R"(# Out of bounds values\s*:\s*(\d+)\s*(OK|FAILED)?)", true},
    {"xxrjun/nccl-tests-cluster", R"(^#\s*Collective test starting:\s*(\S+))", false},
    {"xxrjun/nccl-tests-cluster",
     R"(^#\s*nThread\s+\d+\s+nGpus\s+\d+\s+minBytes\s+(\d+)\s+maxBytes\s+(\d+)\s+step:)", false},
};

TEST(Consumers, ExpressionsOfLinesFindTheirOneLine) {
  for (const LineExpression& e : line_expressions) {
    const std::regex pattern(e.pattern);
    for (const samples::Run& run : samples::all()) {
      const std::vector<std::string> all = lines(committed_table(run));
      const auto found = std::count_if(all.begin(), all.end(), [&](const std::string& line) {
        return std::regex_search(line, pattern);
      });
      EXPECT_EQ(found, e.at_the_end && !run.summary.complete ? 0 : 1)
          << e.program << ", " << e.pattern << ": " << run.name;
    }
  }
}

// NVIDIA/cloudai leaves out, without a word, rows that do not have 13 tokens.
TEST(Consumers, CloudaiFindsEveryRow) {
  for (const samples::Run& run : usual_runs()) {
    std::size_t found = 0;
    for (const std::string& line : lines(committed_table(run))) {
      const std::vector<std::string> parts = tokens(line);
      if (!parts.empty() && std::isdigit(parts[0][0]) != 0 && parts.size() == 13) ++found;
    }
    EXPECT_EQ(found, samples::shown_rows(run.rows)) << run.name;
  }
}

// microsoft/superbenchmark counts columns from the end of the line that names them.
TEST(Consumers, SuperbenchFindsColumnsFromTheEnd) {
  for (const samples::Run& run : usual_runs()) {
    if (run.record.clock == "cpu")
      continue;  // it wants a column "time", which nccl-tests' -C lacks
    const std::string table = committed_table(run);
    std::vector<std::string> header;
    for (const std::string& line : lines(table)) {
      const std::vector<std::string> words = tokens(line);
      if (header.empty() && std::count(words.begin(), words.end(), "busbw") > 0 &&
          std::count(words.begin(), words.end(), "time") > 0)
        header = words;
    }
    ASSERT_FALSE(header.empty()) << run.name;
    const auto from_end = [&](const char* name) {
      return static_cast<std::size_t>(header.end() - std::find(header.begin(), header.end(), name));
    };
    for (const std::string& row : rows(table)) {
      const std::vector<std::string> columns = tokens(row);
      EXPECT_EQ(columns.size() - from_end("time"), 5U) << row;
      EXPECT_EQ(columns.size() - from_end("algbw"), 6U) << row;
      EXPECT_EQ(columns.size() - from_end("busbw"), 7U) << row;
    }
  }
}

// NVIDIA/ai-cloud-validation: the largest eighth word of lines whose third word is a type.
TEST(Consumers, AiCloudValidationTakesOnlyRowsForRows) {
  for (const samples::Run& run : samples::all()) {
    for (const std::string& line : lines(committed_table(run))) {
      const std::vector<std::string> fields = tokens(line);
      if (fields.size() < 8 || !parse_type(fields[2])) continue;
      EXPECT_FALSE(line.starts_with('#')) << line;
      EXPECT_TRUE(std::regex_match(fields[7], std::regex(R"([0-9]+(\.[0-9]+)?)"))) << line;
    }
  }
}

// aws/aws-parallelcluster: grep for size and count, awk '{print $12}'.
TEST(Consumers, AwsParallelclusterFindsARowBySizeAndCount) {
  int found = 0;
  const std::regex pattern(R"(1048576\s+262144)");
  for (const std::string& line : lines(committed_table(samples::plain()))) {
    if (!std::regex_search(line, pattern)) continue;
    EXPECT_EQ(tokens(line).at(11), "1.35");
    ++found;
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace ccl_tests
