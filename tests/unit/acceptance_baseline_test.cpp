// A run of ccl_acceptance beside an earlier one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

using testing::HasSubstr;

Record record(std::vector<Check> checks) {
  Record made{.plan = "p", .backend = "gloo"};
  made.hosts = {{"a", {0}, {}}, {"b", {1}, {}}};
  made.checks = std::move(checks);
  return made;
}

// half_width: of the interval, over the rate.
Check row(const char* id, double rate, double half_width) {
  return {.id = id,
          .subject = "host a",
          .numbers = {{"busbw", rate, "B/s"},
                      {"busbw_low", rate * (1 - half_width), "B/s"},
                      {"busbw_high", rate * (1 + half_width), "B/s"}}};
}

TEST(AcceptanceBaseline, NamesRowsThatAreSlowerBeyondDoubt) {
  const Record before = record({row("full/run/all_reduce/1024", 1e9, 0.02),
                                row("full/run/all_reduce/2048", 1e9, 0.02),
                                row("full/run/all_reduce/4096", 1e9, 0.2),
                                row("node/host a/all_reduce/1024", 1e9, 0.02),
                                {.id = "hosts/kernel"}});
  const Record now = record({row("full/run/all_reduce/1024", 0.8e9, 0.02),   // slower
                             row("full/run/all_reduce/2048", 0.95e9, 0.02),  // by less than 10 %
                             row("full/run/all_reduce/4096", 0.8e9, 0.2),    // not beyond doubt
                             row("node/host a/all_reduce/1024", 2e9, 0.02),  // faster
                             row("full/run/all_reduce/8192", 1, 0),          // was not there
                             {.id = "hosts/kernel"}});
  const std::vector<Check> checks = compare_rows(before, now, 0.1);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].id, "baseline/full/run/all_reduce/1024");
  EXPECT_EQ(checks[0].verdict, Verdict::warn);
  EXPECT_EQ(checks[0].reason, "SLOWER_THAN_BEFORE");
  EXPECT_THAT(checks[0].text, HasSubstr("800 MB/s, 1 GB/s before"));
  EXPECT_NEAR(checks[0].numbers[0].value, 0.25, 1e-9);
  EXPECT_NEAR(checks[0].numbers[1].value, 0.98 / 0.816 - 1, 1e-9);
  EXPECT_EQ(checks[1].verdict, Verdict::inconclusive);  // it may be slow, too
  EXPECT_EQ(checks[1].reason, "NOT_IN_BASELINE");
  EXPECT_EQ(checks[1].text,
            "1 of 4 rows are slower than before by more than 10 %; the earlier run lacks "
            "full/run/all_reduce/8192");
  EXPECT_EQ(compare_rows(before, before, 0.1).at(0).verdict, Verdict::pass);
}

TEST(AcceptanceBaseline, WithoutACommonRowNothingIsKnown) {
  const std::vector<Check> checks = compare_rows(record({row("x", 1, 0)}), record({}), 0.1);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::inconclusive);
}

TEST(AcceptanceBaseline, RefusesARunOfSomethingElse) {
  const auto refusal = [](const Record& now) -> std::string {
    try {
      check_same_run(record({}), now);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "(accepted)";
  };
  EXPECT_EQ(refusal(record({})), "(accepted)");
  Record other = record({});
  other.plan = "q";
  EXPECT_THAT(refusal(other), HasSubstr("--baseline: the plan was 'p' and is 'q'"));
  other = record({});
  other.hosts.pop_back();
  EXPECT_THAT(refusal(other), HasSubstr("the number of hosts was '2' and is '1'"));
  other = record({});
  other.hosts[0].ranks.push_back(2);
  EXPECT_THAT(refusal(other), HasSubstr("the number of ranks was '2' and is '3'"));
  const Check wrong{.verdict = Verdict::fail, .reason = "WRONG_DATA", .text = "rank 1"};
  EXPECT_THROW(check_same_run(record({wrong}), record({})), UsageError);
  EXPECT_NO_THROW(check_same_run(record({}), record({wrong})));
}

}  // namespace
}  // namespace ccl_tests::acceptance
