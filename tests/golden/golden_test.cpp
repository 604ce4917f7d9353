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

std::vector<Case> cases() {
  std::vector<Case> cases;
  std::vector<samples::Run> runs = samples::all();
  runs.push_back(samples::in_place());
  constexpr std::array in_all_formats = {"plain", "stream", "wrong_data"};
  // scripts/plot.py reads these in tests/system/plot_test.sh.
  constexpr std::array plotted = {"extremes",    "fits",    "group_rows", "in_place",
                                  "interrupted", "no_rows", "pair_rows",  "undecided"};
  const auto is_one_of = [](const std::string& name, const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const samples::Run& run : runs) {
    cases.push_back({run, ".txt"});
    if (is_one_of(run.name, plotted)) cases.push_back({run, ".jsonl"});
    if (!is_one_of(run.name, in_all_formats)) continue;
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

INSTANTIATE_TEST_SUITE_P(Report, Golden, testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.run.name + "_" + test.param.suffix.substr(1);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace ccl_tests
