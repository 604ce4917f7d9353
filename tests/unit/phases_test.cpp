// Phases tell ranks, slots and places apart.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>

#include "tests/unit/verify_world.hpp"

namespace ccl_tests::verify {
namespace {

TEST(Phases, AreDistinctAsLongAsThePeriodLasts) {
  const Pattern moved(DataType::int8, std::nullopt, 64, 1);
  std::set<std::size_t> seen;
  for (std::size_t slot = 0; slot < 4093 / 64; ++slot) {
    for (int rank = 0; rank < 64; ++rank) {
      EXPECT_LT(moved.phase(rank, slot), moved.inputs().period());
      EXPECT_TRUE(seen.insert(moved.phase(rank, slot)).second) << rank << ' ' << slot;
    }
  }
  const Pattern reduced(DataType::int8, ReduceOp::sum, 64, 1);
  seen.clear();
  for (std::size_t slot = 0; slot < 4093 - 64; ++slot) {
    EXPECT_LT(reduced.phase(0, slot), first_phases(reduced.inputs()));
    EXPECT_EQ(reduced.phase(0, slot), reduced.phase(63, slot));
    EXPECT_TRUE(seen.insert(reduced.phase(5, slot)).second) << slot;
  }
}

TEST(Phases, DoNotGrowWithTheRank) {
  const Pattern moved(DataType::int8, std::nullopt, 16, 1);
  std::set<std::size_t> steps;
  for (int rank = 1; rank < 16; ++rank) {
    steps.insert((moved.phase(rank, 0) + 4093 - moved.phase(rank - 1, 0)) % 4093);
  }
  EXPECT_GT(steps.size(), 12U);
}

// Returns whether a rank of the job finds wrong elements when each has its own send buffer as its
// result.
bool is_found_when_nothing_moved(const VerifyWorld& world, std::size_t block, std::size_t slot) {
  const auto ranks = world.verifiers.size();
  for (std::size_t me = 0; me < ranks; ++me) {
    const auto own = world.input(static_cast<int>(me), ranks * block, slot);
    std::vector<ExpectedBlock> blocks;
    for (std::size_t r = 0; r < ranks; ++r) {
      blocks.push_back({.recv_offset = r * block,
                        .count = block,
                        .source_rank = static_cast<int>(r),
                        .source_offset = me * block});
    }
    if (world.verifiers[me].compare(own.data(), blocks, slot).wrong > 0) return true;
  }
  return false;
}

TEST(Phases, AlltoallThatMovedNothingIsFoundAtEveryCount) {
  for (const DataType type : {DataType::uint8, DataType::float32}) {
    for (const int ranks : {3, 4}) {
      const VerifyWorld world(type, std::nullopt, ranks);
      for (std::size_t block = 1; block <= 5000; ++block) {
        ASSERT_TRUE(is_found_when_nothing_moved(world, block, 0)) << ranks << " ranks, " << block;
      }
    }
  }
}

// With two ranks one stride per slot equals the phases' distance; no stride does in two slots.
TEST(Phases, AlltoallOfTwoRanksThatMovedNothingIsFoundInOneOfTwoSlots) {
  const VerifyWorld world(DataType::uint8, std::nullopt, 2);
  for (std::size_t block = 1; block <= 5000; ++block) {
    ASSERT_TRUE(is_found_when_nothing_moved(world, block, 0) ||
                is_found_when_nothing_moved(world, block, 1))
        << block;
  }
}

// In a message that shows every rank's contribution.
TEST(Phases, AnEarlierCallsBitwiseResultIsFound) {
  for (const DataType type : {DataType::uint8, DataType::int64}) {
    for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
      for (const int ranks : {3, 4, 17}) {
        const VerifyWorld world(type, op, ranks);
        const ExpectedBlock s{.count = static_cast<std::size_t>(ranks)};
        for (std::size_t slot = 1; slot < 1000; ++slot) {
          const auto earlier = world.reduced(s.count, slot - 1);
          ASSERT_GT(world.rank(0).compare(earlier.data(), {&s, 1}, slot).wrong, 0U)
              << name(type) << ' ' << name(op) << ", " << ranks << " ranks, slot " << slot;
        }
      }
    }
  }
}

TEST(PatternCache, GivesEachPatternOnce) {
  PatternCache cache;
  const auto first = cache.find(DataType::half, ReduceOp::sum, 4, 1);
  EXPECT_EQ(first, cache.find(DataType::half, ReduceOp::sum, 4, 1));
  EXPECT_NE(first, cache.find(DataType::half, ReduceOp::sum, 4, 2));
  EXPECT_NE(first, cache.find(DataType::half, std::nullopt, 4, 1));
  EXPECT_EQ(first->inputs().op(), ReduceOp::sum);
}

}  // namespace
}  // namespace ccl_tests::verify
