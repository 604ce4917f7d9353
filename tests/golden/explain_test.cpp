// --explain: nothing that the output shows is left unexplained.
#include "src/report/explanations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "collectives/collectives.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests::samples {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Explanation::Kind;

bool explained(std::initializer_list<Kind> kinds, const std::string& name) {
  const auto all = explanations();
  return std::any_of(all.begin(), all.end(), [&](const Explanation& e) {
    return e.name == name && std::find(kinds.begin(), kinds.end(), e.kind) != kinds.end();
  });
}

std::string time_text() {
  for (const Explanation& e : explanations())
    if (e.name == "time") return std::string(e.text);
  return {};
}

// A table with everything that a flag can add.
Run everything() {
  Run run;
  for (Run& sample : all())
    if (sample.name == "fits") run = std::move(sample);
  run.record.options.measure.per_iteration = true;
  run.record.options.output.timestamps = true;
  run.record.options.sweep.group_rows = true;
  run.record.pair_rows = true;
  run.summary.late_rank = LateRank{2, "node1", 0.9, 1000, 40e-6};
  return run;
}

TEST(Explain, HasEveryColumnOfTheTable) {
  for (const char* clock : {"wall", "cpu"}) {
    auto run = everything();
    run.record.clock = clock;
    run.record.options.measure.samples = std::string(clock) == "wall";
    int headings = 0;
    for (const std::string& line : lines(table(run))) {
      if (line.find("out-of-place") == std::string::npos && line.find("redop") == std::string::npos)
        continue;
      ++headings;
      for (std::string name : tokens(line)) {
        if (name == "#") continue;
        EXPECT_TRUE(explained({Kind::column, Kind::stats_column}, name)) << name;
      }
    }
    EXPECT_EQ(headings, 2);
  }
}

TEST(Explain, HasEveryLineBelowARow) {
  auto run = everything();
  run.rows[0].group = 1;
  run.rows[0].pair = {0, 1};
  run.rows[0].algorithm = "RING";
  run.rows[0].reproduction = Reproduction{};
  run.rows[0].beside = BesideFinding{};
  run.rows[0].out_of_place.steps = StepTimes{1, 1, 1};
  std::set<std::string> names;
  for (const std::string& line : lines(table(run))) {
    if (line.starts_with("# Out of bounds")) break;
    if (line.starts_with("#   ") && line.find(": ") != std::string::npos)
      names.insert(line.substr(4, line.find(':') - 4));
  }
  for (const std::string& name : names) EXPECT_TRUE(explained({Kind::row_line}, name)) << name;
  EXPECT_THAT(names, testing::SizeIs(6));
}

TEST(Explain, HasEveryFlagLetter) {
  // The table's letters of a time that is not precise, has two speeds and drifts.
  auto run = everything();
  run.rows[0].out_of_place.stream->precision_reached = false;
  run.rows[0].out_of_place.stream->flags = {"imprecise", "bimodal",     "drift", "skew",
                                            "clock",     "page faults", "noise", "unstable"};
  EXPECT_THAT(table(run), HasSubstr(" ~BDSrPNU "));
  for (const char* letter : {"=", "~", "B", "D", "S", "r", "P", "N", "U"})
    EXPECT_TRUE(explained({Kind::flag}, letter)) << letter;
}

TEST(Explain, HasEveryLabelOfTheFooter) {
  int labels = 0;
  bool below = false;
  for (const std::string& line : lines(table(everything()))) {
    below = below || line.starts_with("# Out of bounds");
    const std::size_t colon = line.find(" : ");
    if (!below || colon == std::string::npos || line.starts_with("#  ")) continue;
    std::string label = line.substr(2, colon - 2);
    label.erase(label.find_last_not_of(' ') + 1);
    ++labels;
    EXPECT_TRUE(explained({Kind::footer}, label)) << label;
  }
  EXPECT_EQ(labels, 9);
}

TEST(Explain, ConcernsTheProgram) {
  EXPECT_THAT(explain(collectives::pingpong), HasSubstr("one way"));
  EXPECT_THAT(explain(collectives::pingpong), HasSubstr("\n  pair "));
  EXPECT_THAT(explain(collectives::all_reduce), Not(HasSubstr("\n  pair ")));
  EXPECT_THAT(explain(collectives::all_reduce), Not(HasSubstr("\n  steps ")));
  EXPECT_THAT(explain(collectives::sync_grad), HasSubstr("\n  steps "));
  EXPECT_THAT(explain(collectives::pingpong), HasSubstr("\n  Pairs "));
  EXPECT_THAT(explain(collectives::all_reduce), Not(HasSubstr("\n  Pairs ")));
  EXPECT_THAT(explain(collectives::broadcast), HasSubstr("rooted"));
  for (const char* way : {"stream", "-n", "--samples", "--passes"})
    EXPECT_THAT(time_text(), HasSubstr(way));
  for (const Collective* program :
       {&collectives::all_reduce, &collectives::barrier, &collectives::sync_grad}) {
    for (const std::string& line : lines(explain(*program))) EXPECT_LE(line.size(), 100U) << line;
  }
}

}  // namespace
}  // namespace ccl_tests::samples
