// The files read back by a parser: complete after every row, true to the values, whatever the
// strings hold.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "src/core/error.hpp"
#include "src/report/verdict_file.hpp"
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
    const TemporaryFolder directory;
    const std::string path = directory.file("out" + suffix);
    const auto reporter = file_reporter(path);
    reporter->begin(run.record);
    check(samples::read(path), std::size_t{0});
    std::vector<Row> written;
    for (const Row& row : run.rows) {
      reporter->row(row);
      written.push_back(row);
      check(samples::read(path), suffix == ".json" ? samples::shown_rows(written) : written.size());
    }
  }
}

TEST(NcclJson, IsACompleteDocumentAfterEveryRow) {
  follow(".json", [](const std::string& text, std::size_t rows) {
    const json document = json::parse(text);
    EXPECT_EQ(document.at("results").size(), rows);
    EXPECT_EQ(document.at("errors").size(), 1U);
    EXPECT_EQ(document.at("out_of_bounds").at("okay"), "false");
  });
}

TEST(JsonLines, HasTwoLinesForEveryRowSoFar) {
  follow(".jsonl", [](const std::string& text, std::size_t rows) {
    const std::vector<json> objects = parse_lines(text);
    ASSERT_EQ(objects.size(), 2 * rows + 1);
    EXPECT_EQ(objects[0].at("type"), "header");
    EXPECT_EQ(objects[2 * rows].at("type"), rows > 0 ? "row" : "header");
  });
}

TEST(Csv, HasTwoLinesForEveryRowSoFarAndEqualColumns) {
  follow(".csv", [](const std::string& text, std::size_t rows) {
    const auto records = parse_csv(text);
    ASSERT_EQ(records.size(), 2 * rows + 1);
    for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  });
}

TEST(NcclJson, KeepsTheSchemaOfVersion3) {
  const json document = json::parse(samples::file(samples::plain(), ".json"));
  EXPECT_EQ(document.at("version"), 3);
  EXPECT_EQ(document.at("nccl_version"), 0);
  EXPECT_EQ(document.at("args"), (json{"all_reduce_perf", "-b", "8", "-e", "1M"}));
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

TEST(NcclJson, IsADocumentBeforeTheRunBeginsAndAfterItFailedThere) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.json");
  const auto reporter = file_reporter(path);
  EXPECT_EQ(json::parse(samples::read(path)).at("out_of_bounds").at("okay"), "false");
  RunSummary summary;
  summary.complete = false;
  summary.errors = {"no peers"};
  reporter->end(summary);
  const json document = json::parse(samples::read(path));
  EXPECT_EQ(document.at("errors"), json::array({"no peers"}));
  EXPECT_EQ(document.at("out_of_bounds").at("okay"), "false");
}

TEST(NcclJson, ARunThatDidNotReachItsEndIsNotOkayAndSaysWhy) {
  for (const samples::Run& run : samples::all()) {
    const json document = json::parse(samples::file(run, ".json"));
    const bool okay = run.summary.complete && run.summary.failed_checks == 0;
    EXPECT_EQ(document.at("out_of_bounds").at("okay"), okay ? "true" : "false") << run.name;
    const bool silent = run.summary.complete && run.summary.verdict != Verdict::varies;
    EXPECT_EQ(document.at("errors").empty(), silent) << run.name;
  }
}

// nccl-tests' tools/analyze_perf_json.py takes the n-th list for process n, and times_us for the
// maximum of the lists.
TEST(NcclJson, EveryProcessHasAListOfItsIterationsIfAllAreInTheRow) {
  const json document = json::parse(samples::file(samples::per_iteration(), ".json"));
  ASSERT_EQ(document.at("results").size(), 2U);
  for (const json& row : document.at("results")) {
    const json& all = row.at("out_of_place_per_iter");
    const json& processes = all.at("per_process_max_times_us");
    EXPECT_EQ(processes, json::parse("[[5.0,0.75,2.0],[4.0,1.0,1.25]]"));
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(all.at("times_us").at(i), std::max(processes.at(0).at(i), processes.at(1).at(i)));
    EXPECT_FALSE(row.at("in_place_per_iter").contains("per_process_max_times_us"));
  }
}

TEST(NcclJson, DevicesBeginWithOneRankOfEachProcess) {
  const json document = json::parse(samples::file(samples::per_iteration(), ".json"));
  std::vector<std::string> places;
  for (const json& device : document.at("config").at("devices"))
    places.push_back(device.at("hostname").get<std::string>() + " " + device.at("rank").dump());
  EXPECT_EQ(places, (std::vector<std::string>{"node1 0", "node2 2", "node1 1", "node2 3"}));
}

TEST(NcclJson, RowsOfPairsAndGroupsCanBeToldApart) {
  for (const samples::Run& run : samples::all()) {
    std::vector<std::string> names;
    const json document = json::parse(samples::file(run, ".json"));
    for (const json& row : document.at("results")) names.push_back(row.at("experiment_name"));
    if (run.name == "pair_rows") {
      EXPECT_EQ(names, (std::vector<std::string>{"pair 0:1", "pair 12:345"}));
    } else if (run.name == "group_rows") {
      EXPECT_EQ(names, (std::vector<std::string>{"group 0", "group 1"}));
    } else {
      EXPECT_EQ(names, std::vector<std::string>(samples::shown_rows(run.rows), ""));
    }
  }
}

TEST(JsonLines, KeepsEveryDigitAndType) {
  const samples::Run run = samples::plain();
  const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
  EXPECT_EQ(objects.at(0).at("header").at("seed"), run.record.options.check.seed);
  EXPECT_EQ(objects.at(0).at("header").at("parallel_init"), false);
  EXPECT_EQ(objects.at(1).at("placement"), "out_of_place");
  EXPECT_EQ(objects.at(1).at("time_s"), run.rows[0].out_of_place.seconds);
  EXPECT_EQ(objects.at(2).at("placement"), "in_place");
  EXPECT_EQ(objects.at(2).at("bus_factor"), run.rows[0].bus_factor);
  EXPECT_EQ(objects.at(5).at("footer").at("verified_calls"), run.summary.verified_calls);
  EXPECT_EQ(objects.at(5).at("footer").at("complete"), true);
}

TEST(JsonLines, RowsNeedNoJoin) {
  const samples::Run run = samples::pair_rows();
  for (const json& line : parse_lines(samples::file(run, ".jsonl"))) {
    if (line.at("type") != "row") continue;
    EXPECT_EQ(line.at("program"), "pingpong_perf");
    EXPECT_EQ(line.at("backend"), "gloo");
    EXPECT_EQ(line.at("ranks"), 3);
    EXPECT_EQ(line.at("run_id"), run.record.run_id);
    EXPECT_TRUE(line.at("op").is_null());
    EXPECT_TRUE(line.at("root").is_null());
    for (const auto& [name, value] : line.items())
      EXPECT_FALSE(value.is_object()) << name << " is not flat";
  }
}

TEST(Csv, HasTheColumnsOfJsonLinesAndKeepsEveryDigit) {
  const samples::Run run = samples::plain();
  const auto records = parse_csv(samples::file(run, ".csv"));
  const json line = parse_lines(samples::file(run, ".jsonl")).at(1);
  for (const auto& [name, value] : line.items()) {
    if (std::set<std::string>{"type", "row", "mismatches", "stamps_s", "rank_stamps_s",
                              "iteration_processes", "process_iteration_times_s"}
            .contains(name))
      continue;
    const std::string text = field(records, 1, name);
    if (value.is_number()) {
      EXPECT_EQ(json::parse(text), value) << name;
    } else if (!value.is_boolean() && !value.is_array()) {
      EXPECT_EQ(text, value.is_null() ? "" : value.get<std::string>()) << name;
    }
  }
  EXPECT_EQ(std::stod(field(records, 1, "time_s")), run.rows[0].out_of_place.seconds);
  EXPECT_EQ(std::stod(field(records, 4, "bus_factor")), run.rows[1].bus_factor);
  EXPECT_EQ(field(records, 4, "wrong"), "0");
  EXPECT_EQ(field(records, 1, "seed"), "18446744073709551615");
}

TEST(Csv, ARunThatFailedHasALastLineThatSaysSo) {
  for (const samples::Run& run : samples::all()) {
    const auto records = parse_csv(samples::file(run, ".csv"));
    const bool failed = run.summary.exit_code != 0;
    ASSERT_EQ(records.size(), 1 + 2 * run.rows.size() + (failed ? 1 : 0)) << run.name;
    if (!failed) continue;
    const std::size_t last = records.size() - 1;
    EXPECT_EQ(field(records, last, "exit_code"), std::to_string(run.summary.exit_code));
    EXPECT_NE(field(records, last, "error"), "") << run.name;
    EXPECT_EQ(field(records, last, "time_s") + field(records, last, "placement"), "");
    EXPECT_EQ(field(records, last, "program"), run.record.program);
  }
}

TEST(Csv, ARunThatItsFaultDidNotChangeSaysSo) {
  samples::Run run = samples::stream();
  run.summary.verdict = Verdict::unreliable;
  run.summary.exit_code = exit_code(Exit::inconclusive);
  run.summary.spoiled = "inject: 0 operations spoiled";
  const auto records = parse_csv(samples::file(run, ".csv"));
  EXPECT_EQ(field(records, records.size() - 1, "error"), nothing_spoiled);
}

TEST(Files, UnknownAndInfiniteValuesAreEmptyOrNull) {
  for (const samples::Run& run : samples::all()) {
    for (const char* suffix : {".csv", ".json", ".jsonl"}) {
      const std::string text = samples::file(run, suffix);
      EXPECT_FALSE(std::regex_search(text, std::regex("[:,]-?(inf|nan)")));
    }
    if (run.name != "extremes") continue;
    const auto records = parse_csv(samples::file(run, ".csv"));
    EXPECT_EQ(field(records, 5, "algbw_gb_per_s"), "");
    const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
    EXPECT_TRUE(objects.at(5).at("algbw_gb_per_s").is_null());
  }
}

TEST(Files, OddStringsComeBack) {
  for (const std::string& text : samples::odd_strings()) {
    const samples::Run run = samples::with_text(text);
    const json document = json::parse(samples::file(run, ".json"));
    const std::string seen = document.at("args").at(1);
    EXPECT_EQ(document.at("errors").at(0), seen);
    const std::vector<json> objects = parse_lines(samples::file(run, ".jsonl"));
    ASSERT_EQ(objects.size(), 6U);
    EXPECT_EQ(objects[0].at("header").at("arguments").at(1), seen);
    const auto records = parse_csv(samples::file(run, ".csv"));
    ASSERT_EQ(records.size(), 5U);
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
