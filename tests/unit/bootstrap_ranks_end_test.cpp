// How the processes of a job end together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "src/backends/registry.hpp"
#include "src/core/error.hpp"
#include "src/job/ranks.hpp"
#include "tests/unit/bootstrap_jobs.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

// MPICH's mpirun kills all processes as soon as one has ended with an error, process 0 too, which may
// still be writing the footer.
TEST(RanksEnd, AProcessThatFailsEndsBehindTheOneThatWrites) {
  const BackendPtr backend = open_backend("loopback");
  const JobSetup job;
  const Launch launch;
  const Staging staging;
  std::atomic<bool> written = false;
  const auto outcomes = test::run_job(3, 1, [&](Control& control) {
    const Process process{job, launch, *backend, staging, [](const std::string&) {}};
    FailureBox failure;
    Activity activity;
    RanksEnd end;
    const int code = run_ranks(
        process, control, failure, activity,
        [&](Rank& rank) -> int {
          if (rank.rank() == 1) throw Error("rank 1 has had enough");
          rank.meet();
          return 0;
        },
        [&](const RanksEnd& e) {
          if (control.process() != 0) return e.failure;
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          written = true;
          return e.failure;
        },
        end);
    EXPECT_EQ(code, exit_code(Exit::failed)) << control.process();
    EXPECT_TRUE(written) << control.process();
    if (control.process() == 0) {
      ASSERT_FALSE(end.errors.empty());
      EXPECT_THAT(end.errors.front(), HasSubstr("rank 1 has had enough"));
    }
  });
  for (const test::Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

}  // namespace
}  // namespace ccl_tests
