// The files read back by a parser: complete after every row, true to the values, whatever the
// strings hold.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using nlohmann::json;

std::vector<json> parse_lines(const std::string& text) {
  std::vector<json> objects;
  for (const std::string& line : samples::lines(text)) objects.push_back(json::parse(line));
  return objects;
}

// RFC 4180, strictly: throws nothing, but a stray quote leaves fields out of step.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      records.back().back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      records.back().emplace_back();
    } else if (!quoted && c == '\n') {
      records.emplace_back(1);
    } else {
      records.back().back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  records.pop_back();
  return records;
}

std::string field(const std::vector<std::vector<std::string>>& records, std::size_t row,
                  const std::string& name) {
  for (std::size_t i = 0; i < records[0].size(); ++i) {
    if (records[0][i] == name) return records.at(row).at(i);
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

// Calls check(rows so far) after begin and after every row.
template <class Check>
void follow(const std::string& suffix, Check check) {
  for (const samples::Run& run : samples::all()) {
    const samples::Directory directory;
    const std::string path = directory.file("out" + suffix);
    const auto reporter = file_reporter(path);
    reporter->begin(run.record);
    check(samples::read(path), std::size_t{0});
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      reporter->row(run.rows[i]);
      check(samples::read(path), i + 1);
    }
  }
}

TEST(NcclJson, IsACompleteDocumentAfterEveryRow) {
  follow(".json", [](const std::string& text, std::size_t rows) {
    const json document = json::parse(text);
    EXPECT_EQ(document.at("results").size(), rows);
    EXPECT_EQ(document.at("errors").size(), 1U);
    EXPECT_FALSE(document.contains("out_of_bounds"));
  });
}

TEST(JsonLines, HasALineForEveryRowSoFar) {
  follow(".jsonl", [](const std::string& text, std::size_t rows) {
    const std::vector<json> objects = parse_lines(text);
    ASSERT_EQ(objects.size(), rows + 1);
    EXPECT_EQ(objects[0].at("type"), "header");
    EXPECT_EQ(objects[rows].at("type"), rows > 0 ? "row" : "header");
  });
}

TEST(Csv, HasALineForEveryRowSoFarAndEqualColumns) {
  follow(".csv", [](const std::string& text, std::size_t rows) {
    const auto records = parse_csv(text);
    ASSERT_EQ(records.size(), rows + 1);
    for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  });
}

TEST(NcclJson, KeepsTheSchemaOfVersion3) {
  const json document = json::parse(samples::file(samples::plain(), ".json"));
  EXPECT_EQ(document.at("version"), 3);
  EXPECT_EQ(document.at("nccl_version"), 0);
  EXPECT_EQ(document.at("env").at(0), "NCCL_TESTS_MIN_BW=1.5");
  EXPECT_EQ(document.at("config").at("blocking_collectives"), "false");
  EXPECT_EQ(document.at("config").at("step_factor"), 2);
  EXPECT_FALSE(document.at("config").contains("step_bytes"));
  ASSERT_EQ(document.at("config").at("devices").size(), 3U);
  EXPECT_EQ(document.at("config").at("devices").at(2).at("rank"), 2);
  const json& row = document.at("results").at(1);
  EXPECT_EQ(row.at("root"), "    -1");
  EXPECT_DOUBLE_EQ(row.at("in_place").at("time").get<double>(), 1034.5678);
  EXPECT_EQ(row.at("in_place").at("nwrong"), 0);
  EXPECT_EQ(row.at("actual_iterations"), 20);
  EXPECT_EQ(document.at("out_of_bounds"), (json{{"count", 0}, {"okay", "true"}}));
  EXPECT_EQ(document.at("average_bus_bandwidth").at("okay"), "unchecked");
  EXPECT_EQ(document.at("errors"), json::array());
  EXPECT_EQ(document.at("end_time"), "2026-11-20 22:34:00");
}

TEST(NcclJson, EncodesNcclsVersionAsNcclDoes) {
  samples::Run run = samples::plain();
  run.record.backend = "nccl";
  for (const auto& [version, code] : {std::pair("2.30.7", 23007), std::pair("2.8.4", 2804)}) {
    run.record.library_version = version;
    EXPECT_EQ(json::parse(samples::file(run, ".json")).at("nccl_version"), code);
  }
}

TEST(NcclJson, FailsBeforeTheRunBeganIsADocumentToo) {
  const samples::Directory directory;
  const std::string path = directory.file("out.json");
  RunSummary summary;
  summary.errors = {"no peers"};
  file_reporter(path)->end(summary);
  EXPECT_EQ(json::parse(samples::read(path)).at("errors"), json::array({"no peers"}));
}

TEST(JsonLines, KeepsEveryDigitAndType) {
  const samples::Run run = samples::plain();
  const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
  EXPECT_EQ(objects.at(0).at("seed"), run.record.seed);
  EXPECT_EQ(objects.at(0).at("parallel_init"), false);
  EXPECT_EQ(objects.at(1).at("out_of_place").at("time_s"), run.rows[0].out_of_place.seconds);
  EXPECT_EQ(objects.at(1).at("bus_factor"), run.rows[0].bus_factor);
  EXPECT_EQ(objects.at(3).at("verified_calls"), run.summary.verified_calls);
  EXPECT_EQ(objects.at(3).at("complete"), true);
}

TEST(Csv, KeepsEveryDigit) {
  const samples::Run run = samples::plain();
  const auto records = parse_csv(samples::file(run, ".csv"));
  EXPECT_EQ(std::stod(field(records, 1, "out_of_place_time_s")), run.rows[0].out_of_place.seconds);
  EXPECT_EQ(std::stod(field(records, 2, "bus_factor")), run.rows[1].bus_factor);
  EXPECT_EQ(field(records, 2, "in_place_wrong"), "0");
  EXPECT_EQ(field(records, 1, "seed"), "18446744073709551615");
}

TEST(Files, UnknownAndInfiniteValuesAreEmptyOrNull) {
  for (const samples::Run& run : samples::all()) {
    for (const char* suffix : {".csv", ".json", ".jsonl"}) {
      const std::string text = samples::file(run, suffix);
      EXPECT_FALSE(std::regex_search(text, std::regex("[:,]-?(inf|nan)")));
    }
    if (run.name != "extremes") continue;
    const auto records = parse_csv(samples::file(run, ".csv"));
    EXPECT_EQ(field(records, 3, "out_of_place_algbw_gb_per_s"), "");
    const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
    EXPECT_TRUE(objects.at(3).at("out_of_place").at("algbw_gb_per_s").is_null());
  }
}

TEST(Files, OddStringsComeBack) {
  for (const std::string& text : samples::odd_strings()) {
    const samples::Run run = samples::with_text(text);
    const json document = json::parse(samples::file(run, ".json"));
    const std::string seen = document.at("args").at(1);
    EXPECT_EQ(document.at("errors").at(0), seen);
    const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
    ASSERT_EQ(objects.size(), 4U);
    EXPECT_EQ(objects[0].at("arguments").at(1), seen);
    const auto records = parse_csv(samples::file(run, ".csv"));
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[1].size(), records[0].size());
    EXPECT_EQ(field(records, 2, "library_file"), seen);
    // Only bytes that are not UTF-8 may have changed.
    if (seen.find("\xEF\xBF\xBD") == std::string::npos) {
      EXPECT_EQ(seen, text);
    }
  }
}

}  // namespace
}  // namespace ccl_tests
