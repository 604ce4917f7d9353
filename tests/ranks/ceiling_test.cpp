// --ceiling: what the link gives is measured before the rows, which stay what they are without it.
#include <gmock/gmock.h>

#include "src/backends/loopback.hpp"
#include "src/run/link_ceiling.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

Options with_ceiling(int ranks) {
  Options o = quick(ranks);
  o.sweep.sizes = {1000, 100000};
  o.measure.ceiling.measured = true;
  return o;
}

class CeilingOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, CeilingOn, every_backend);

TEST_P(CeilingOn, IsMeasuredAndEveryRowIsHeldToIt) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::broadcast, &collectives::sendrecv}) {
    const Outcome outcome = run(*collective, with_ceiling(ranks()), *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    ASSERT_EQ(outcome.rows.size(), 2U);
    if (ranks() == 1) {
      EXPECT_FALSE(outcome.info.ceiling);
      EXPECT_THAT(outcome.info.notes, Contains(Field(&Note::text, HasSubstr("needs 2 ranks"))));
      continue;
    }
    ASSERT_TRUE(outcome.info.ceiling);
    EXPECT_GT(outcome.info.ceiling->gb_per_s, 0);
    EXPECT_GT(outcome.info.ceiling->latency_s.value_or(0), 0);
    EXPECT_EQ(outcome.info.ceiling_source, "pingpong");
    for (const Row& row : outcome.rows) {
      EXPECT_GT(row.out_of_place.efficiency.value_or(0), 0);
      EXPECT_GT(row.in_place.efficiency.value_or(0), 0);
      EXPECT_EQ(row.out_of_place.wrong, 0U);
    }
  }
}

TEST(Ceiling, AsGivenNeedsNoMeasurement) {
  Options o = with_ceiling(3);
  o.measure.ceiling = {.measured = false, .gb_per_s = 4};
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  for (const Row& row : outcome.rows)
    EXPECT_NEAR(row.out_of_place.efficiency.value_or(0), row.out_of_place.busbw / 4, 1e-9);
}

TEST(Ceiling, IsNotMeasuredIfNothingIsTimed) {
  Options o = with_ceiling(3);
  o.measure.iterations = 0;
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_FALSE(outcome.info.ceiling);
  EXPECT_FALSE(outcome.rows.at(0).out_of_place.efficiency);
}

TEST(Ceiling, IsOfNeighboursOnDifferentHosts) {
  EXPECT_EQ(probed_pair({"a", "a", "a"}), (RankPair{0, 1}));
  EXPECT_EQ(probed_pair({"a", "a", "b", "b"}), (RankPair{1, 2}));
  EXPECT_EQ(probed_pair({"a", "b", "a"}), (RankPair{0, 1}));
}

}  // namespace
}  // namespace ccl_tests::test
