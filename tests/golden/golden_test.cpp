// Every writer's output of every sample run, byte for byte as committed beside this file. After an
// intended change run report_test with CCL_UPDATE_GOLDEN=1 in the environment: it rewrites the
// files (and fails, so that it cannot stay set); then review the difference.
#include <gtest/gtest.h>

#include <algorithm>

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
  for (const samples::Run& run : runs) {
    for (const char* suffix : {".txt", ".jsonl", ".json", ".csv"}) cases.push_back({run, suffix});
    const bool exported = run.name == "plain" || run.name == "stream" || run.name == "wrong_data" ||
                          run.name == "pair_rows" || run.name == "interrupted" ||
                          run.name == "undecided" || run.name == "in_place";
    for (const char* suffix : {".xml", ".md", ".gbench.json", ".bmf.json"}) {
      if (exported) cases.push_back({run, suffix});
    }
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
