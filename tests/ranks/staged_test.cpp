// Every operation through copies, as for a library that takes another memory than the buffers':
// here both are the host's.
#include "src/devices/staged.hpp"

#include <gtest/gtest.h>

#include "src/backends/loopback.hpp"
#include "src/devices/devices.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

class Staged : public testing::TestWithParam<int> {};

TEST_P(Staged, EveryCollectiveIsRight) {
  const LoopbackBackend loopback;
  const auto host = host_devices().open(0);
  const auto staged = on_host_memory(loopback, *host);
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, GetParam())) continue;
    for (const Skew skew : skews(*collective)) {
      Options o = quick(GetParam());
      o.spec.skew = skew;
      const Outcome outcome = run(*collective, o, *staged);
      EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << outcome.text();
      EXPECT_EQ(outcome.summary.failed_checks, 0U) << collective->name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Staged, testing::Values(1, 3, 4));

}  // namespace
}  // namespace ccl_tests::test
