// Cells of streams and of samples that end because their budget will not be enough.
#include <gtest/gtest.h>

#include <cstdint>

#include "src/measure/sample_criterion.hpp"
#include "src/measure/stream_criterion.hpp"
#include "tests/unit/criterion_cells.hpp"

namespace ccl_tests {
namespace {

using test::Cell;
using test::Noise;

template <class Criterion>
class GivingUp : public testing::Test {};
using Criteria = testing::Types<StreamCriterion, SampleCriterion>;
TYPED_TEST_SUITE(GivingUp, Criteria);

TYPED_TEST(GivingUp, SavesMostOfTheBudget) {
  const Noise::Shape hopeless{.median = 1e-3, .spread = 1};
  const Cell<TypeParam> early({.gives_up = true}, hopeless);
  EXPECT_GE(early.criterion.taken().spent_s, 0.05);
  EXPECT_LE(early.criterion.taken().spent_s, 0.15);
  EXPECT_GT(early.found().half_width(), 0.02);
  EXPECT_GE(Cell<TypeParam>({}, hopeless).criterion.taken().spent_s, 0.3);
}

TYPED_TEST(GivingUp, IsRareIfHalfOfTheBudgetIsEnough) {
  int reached = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Cell<TypeParam> cell({.gives_up = true}, {.median = 1e-3, .spread = 0.09}, seed);
    if (cell.found().half_width() <= 0.02) ++reached;
  }
  EXPECT_GE(reached, 90);
}

// It looks at the width alone, never at the time.
TYPED_TEST(GivingUp, LeavesIntervalsThatHold) {
  const int holds =
      test::intervals_that_hold<TypeParam>({.gives_up = true}, {.median = 1e-3, .spread = 0.5});
  EXPECT_GE(holds, 279);
  EXPECT_LE(holds, 299);
}

}  // namespace
}  // namespace ccl_tests
