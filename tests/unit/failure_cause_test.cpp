#include "src/job/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/bootstrap_jobs.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
const int failed = exit_code(Exit::failed);
const int timed_out = exit_code(Exit::timed_out);

// Processes 0, 1, ... fail in this order, `apart_s` seconds after one another, and tell the others
// what they make of it; what each made of it.
std::vector<Failure> fail(const std::vector<Failure>& own, double apart_s) {
  std::vector<Failure> reported(own.size());
  test::run_job(static_cast<int>(own.size()), 1, [&](Control& control) {
    const auto p = static_cast<std::size_t>(control.process());
    control.all_gather("", 60);
    std::this_thread::sleep_for(std::chrono::duration<double>(apart_s * static_cast<double>(p)));
    reported[p] = explain(control, own[p]);
    control.abort(reported[p]);
    control.wait_failure(60);
  });
  return reported;
}

// Rank 1 timed out and closed its connections, which rank 0 saw before anything else.
TEST(FailureCause, IsATimeoutBeforeTheConnectionsThatItClosed) {
  const std::vector<Failure> reported =
      fail({{failed, "closed by peer"}, {timed_out, "nobody answers", {}, {2}}}, 0.3);
  EXPECT_EQ(reported[0].code, timed_out);
  EXPECT_THAT(reported[0].message, StartsWith("nobody answers"));
  EXPECT_THAT(reported[0].message, HasSubstr("(seen here as: closed by peer)"));
  EXPECT_THAT(reported[0].late, testing::ElementsAre(2));
  EXPECT_EQ(reported[1].code, timed_out);
  EXPECT_EQ(reported[1].message, "nobody answers");
}

TEST(FailureCause, IsTheFirstOfEqualOnes) {
  const std::vector<Failure> reported = fail({{failed, "first"}, {failed, "second"}}, 0.3);
  EXPECT_EQ(reported[0].message, "first");
  EXPECT_THAT(reported[1].message, StartsWith("first"));
}

TEST(FailureCause, OfBadInputIsKnownAtOnce) {
  const Failure usage{exit_code(Exit::usage), "-b: what"};
  const auto control = alone();
  EXPECT_EQ(explain(*control, usage).message, usage.message);
  EXPECT_EQ(explain(*control, {failed, "alone"}).message, "alone");
  EXPECT_EQ(fail({usage, {failed, "closed by peer"}}, 0.3)[0].message, usage.message);
}

}  // namespace
}  // namespace ccl_tests
