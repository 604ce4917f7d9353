// The table of every sample run, and every other writer's output of some, byte for byte as committed beside this file. After an
// intended change run report_test with CCL_UPDATE_GOLDEN=1 in the environment: it rewrites the
// files (and fails, so that it cannot stay set); then review the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/golden/committed.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

struct Case {
  samples::Run run;
  std::string suffix;
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << test.run.name << test.suffix;
}

std::vector<samples::Run> all_runs() {
  std::vector<samples::Run> runs = samples::all();
  runs.push_back(samples::in_place());
  return runs;
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  constexpr std::array in_all_formats = {"plain", "stream", "wrong_data"};
  for (const samples::Run& run : all_runs()) {
    cases.push_back({run, ".txt"});
    if (std::find(in_all_formats.begin(), in_all_formats.end(), run.name) == in_all_formats.end())
      continue;
    for (const char* suffix :
         {".jsonl", ".json", ".csv", ".xml", ".md", ".gbench.json", ".bmf.json"})
      cases.push_back({run, suffix});
  }
  return cases;
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, IsAsCommitted) {
  const Case& test = GetParam();
  const std::string text =
      test.suffix == ".txt" ? samples::table(test.run) : samples::file(test.run, test.suffix);
  test::expect_committed(CCL_GOLDEN_DIR "/" + test.run.name + test.suffix, text);
}

// In one file, so that a new field changes one: tests/system/plot_test.sh takes it apart for scripts/plot.py.
TEST(GoldenRuns, ThatAreDrawnAreAsCommitted) {
  std::string text;
  for (const char* name : {"extremes", "fits", "group_rows", "in_place", "interrupted", "no_rows",
                           "pair_rows", "undecided"})
    for (const samples::Run& run : all_runs())
      if (run.name == name) text += samples::file(run, ".jsonl");
  test::expect_committed(CCL_GOLDEN_DIR "/plotted.jsonl", text);
}

INSTANTIATE_TEST_SUITE_P(Report, Golden, testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.run.name + "_" + test.param.suffix.substr(1);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace ccl_tests
