// Lower bounds of the collectives' times.
#include "src/model/bounds.hpp"

#include <gtest/gtest.h>

#include "collectives/collectives.hpp"

namespace ccl_tests {
namespace {

namespace c = collectives;

int rounds(const Collective& collective, int ranks) {
  return least_rounds(collective, CollectiveOptions(), ranks);
}

TEST(Bounds, RoundsFollowFromWhatDependsOnWhat) {
  const Collective* const of_all[] = {&c::all_reduce, &c::all_gather, &c::reduce_scatter,
                                      &c::alltoall,   &c::alltoallv,  &c::barrier,
                                      &c::hypercube,  &c::all_gatherv};
  for (const Collective* collective : of_all) {
    EXPECT_EQ(rounds(*collective, 1), 0) << collective->name;
    EXPECT_EQ(rounds(*collective, 2), 1) << collective->name;
    EXPECT_EQ(rounds(*collective, 3), 2) << collective->name;
    EXPECT_EQ(rounds(*collective, 8), 3) << collective->name;
    EXPECT_EQ(rounds(*collective, 9), 4) << collective->name;
  }
}

TEST(Bounds, MessagesToOneNeighbourAreOneRound) {
  EXPECT_EQ(rounds(c::sendrecv, 8), 1);
  EXPECT_EQ(rounds(c::pingpong, 2), 1);
}

TEST(Bounds, RootedOperationsOverlap) {
  for (const Collective* collective : {&c::broadcast, &c::reduce, &c::gather, &c::scatter})
    EXPECT_EQ(rounds(*collective, 8), 0) << collective->name;
}

TEST(Bounds, AreTheLargerOfRoundsAndBytes) {
  const Ceiling ceiling{.gb_per_s = 2, .latency_s = 5e-6};
  EXPECT_DOUBLE_EQ(lower_bound(ceiling, 3, 8), 15e-6);
  EXPECT_DOUBLE_EQ(lower_bound(ceiling, 3, 2e6), 1e-3);
  EXPECT_DOUBLE_EQ(lower_bound({.gb_per_s = 2, .latency_s = {}}, 3, 8), 4e-9);
  EXPECT_EQ(lower_bound({}, 0, 8), 0);
}

}  // namespace
}  // namespace ccl_tests
