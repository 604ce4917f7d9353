// The summary of one screen, and JUnit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(AcceptanceTerminal, IsWhatAPersonReads) {
  EXPECT_EQ(terminal_text(test::sample(), "verdict.json"),
            R"(FAIL node5: sends 1.56 times slower than its peers, in both confirmations

Stages of plan h100-400g: 8 hosts, 64 ranks, 5 min 12 s
  PASS          sanity        21 s  init, barrier, all programs and types at odd counts
  PASS          node          39 s  each host alone, all at once
  FAIL          pairs   1 min 11 s  24 random rounds of 4 pairs, two confirmations
  WARN          full    1 min 41 s  five programs over all ranks, 1 KiB to 1 GiB
  PASS          again   1 min 13 s  the full test without node5
  SKIPPED       soak             -  not in this plan

Look at (3)
  FAIL          node5: sends 1.56 times slower than its peers, in both confirmations (SLOW_HOST)
  WARN          link node1-node6: is 2.1 times slower than other links, the ends are not slow...
  WARN          run: all_reduce 1 GiB 231 of 335 GB/s; passes without node5 (BELOW_LIMIT)

Next
  leave out: node5
  run again without these hosts
  srun -N 7 --ntasks-per-node=8 --exclude=node5 ccl_acceptance h100-400g --verdict verdict.json --report report.html
)");
}

TEST(AcceptanceTerminal, IsOneScreen) {
  const std::vector<std::string> lines = lines_of(terminal_text(test::many_hosts(), "v.json"));
  EXPECT_LE(lines.size(), 32U);
  EXPECT_THAT(lines, ::testing::Contains("  and 11 more in v.json"));
  for (const std::string& line : lines) {
    const bool is_command = line.find(" ccl_acceptance ") != std::string::npos;  // for a shell
    EXPECT_TRUE(is_command || line.size() <= 100) << line;
  }
  EXPECT_LE(lines[0].size(), headline_bytes);
}

TEST(AcceptanceTerminal, NothingFromOutsideReachesTheTerminalRaw) {
  const std::string text = terminal_text(test::hostile());
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(AcceptanceTerminal, EdgeCases) {
  EXPECT_THAT(terminal_text({}), StartsWith("INCONCLUSIVE run: nothing was measured\n"));
  const std::string early = terminal_text(test::incomplete(), "v.json");
  EXPECT_THAT(early, StartsWith("INCONCLUSIVE "));
  EXPECT_THAT(early, HasSubstr("Look at (1)\n  INCONCLUSIVE  run: ended early"));
  Record lost = test::sample();
  lost.complete = false;
  EXPECT_THAT(terminal_text(lost), HasSubstr("Look at (4)"));
  EXPECT_THAT(early, HasSubstr("--resume FILE"));
  EXPECT_THAT(terminal_text(test::one_host()), HasSubstr("keep the verdict file"));
  EXPECT_THAT(terminal_text(test::unmeasured()), StartsWith("FAIL node5"));
}

TEST(AcceptanceJunit, ACaseForEachCheckAndOneForTheRun) {
  const std::string text = junit_text(test::sample());
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"ccl_acceptance\" tests=\"15\" failures=\"2\" "
                              "errors=\"0\" time=\"312.000\">"));
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"soak\" tests=\"1\" failures=\"0\" errors=\"0\" "
                              "skipped=\"1\" time="));
  EXPECT_THAT(text, HasSubstr("classname=\"ccl_acceptance.pairs\" name=\"pairs/host/node5\" "
                              "time=\"36.000\"><failure type=\"SLOW_HOST\" message=\"host node5: "
                              "sends 1.56 times slower than its peers, in both confirmations\">"));
  EXPECT_THAT(text, HasSubstr("<system-out>WARN link node1-node6: is 2.1 times slower"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"run: the plan has no soak\"/>"));
}

TEST(AcceptanceJunit, ARunThatProvesNothingIsAnError) {
  for (const Record& record : {Record{}, test::incomplete()})
    EXPECT_THAT(junit_text(record), HasSubstr("name=\"run\" time=")) << headline(record);
  EXPECT_THAT(junit_text({}), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
  EXPECT_THAT(junit_text(test::incomplete()), HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\""));
}

TEST(AcceptanceJunit, EscapesWhatComesFromOutside) {
  const std::string text = junit_text(test::hostile());
  EXPECT_THAT(text, Not(HasSubstr("<b a")));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, HasSubstr("&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;"));
}

}  // namespace
}  // namespace ccl_tests::acceptance
