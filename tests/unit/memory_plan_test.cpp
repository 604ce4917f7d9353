// Which sizes fit into memory, and where slots lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/run/memory_limit.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
constexpr std::size_t gib = std::size_t{1} << 30;

TEST(MemoryLimit, LeavesATenthButAtMost2GiBFree) {
  EXPECT_EQ(buffer_limit(10 * gib, 1, 1), 3 * gib);  // 9 / (2 + 1)
  EXPECT_EQ(buffer_limit(62 * gib, 4, 3), 3 * gib);  // 60 / (4 x 5)
  EXPECT_EQ(buffer_limit(20 * gib, 1, 0), 9 * gib);
  EXPECT_EQ(buffer_limit(10 * gib, 0, 1), 3 * gib);
  EXPECT_EQ(buffer_limit(0, 4, 1), 0U);
}

TEST(MemoryLimit, LeavesWhatTheLibraryTakesLaterButAtMostAThird) {
  EXPECT_EQ(buffer_limit(25 * gib, 1, 0, 5 * gib), 10 * gib);
  EXPECT_EQ(buffer_limit(9 * gib, 1, 0, 5 * gib), 3 * gib);
  EXPECT_EQ(buffer_limit(20 * gib, 1, 0, gib), 9 * gib);  // 2 GiB stay free all the same
}

constexpr SlotRule within(std::size_t bytes) { return {20, CacheUse::warm, 1 << 20, 0, bytes}; }

Options sizes(std::vector<std::size_t> list) {
  Options o;
  o.sweep.sizes = std::move(list);
  return o;
}

TEST(MemoryLimit, KeepsTheSizesThatFit) {
  const Options o = sizes({8, 1 << 20, 64 << 20, gib});
  const SizePlan all = limit_sizes(collectives::all_reduce, o, 4, within(2 * gib));
  EXPECT_THAT(all.sizes, ElementsAre(8, 1 << 20, 64 << 20, gib));
  EXPECT_FALSE(all.reduced_max);
  const SizePlan some = limit_sizes(collectives::all_reduce, o, 4, within(65 << 20));
  EXPECT_THAT(some.sizes, ElementsAre(8, 1 << 20, 64 << 20));
  EXPECT_EQ(some.reduced_max, std::size_t{65} << 20);
  EXPECT_THROW(limit_sizes(collectives::all_reduce, sizes({gib}), 4, within(65 << 20)),
               Unsupported);
}

TEST(MemoryLimit, CountsTheGuardsAndTheShift) {
  Options o = sizes({64 << 20});
  EXPECT_THROW(limit_sizes(collectives::all_reduce, o, 4, within(64 << 20)), Unsupported);
  EXPECT_NO_THROW(limit_sizes(collectives::all_reduce, o, 4, within((64 << 20) + 16384)));
  o.sweep.unalign = 16384;
  EXPECT_THROW(limit_sizes(collectives::all_reduce, o, 4, within((64 << 20) + 16384)), Unsupported);
}

// Slots beyond the first make timing better; sizes are what was asked for.
TEST(MemoryLimit, LeavesSlotsOutBeforeSizes) {
  const Options o = sizes({1 << 20, 4 << 20});
  const std::size_t limit = 5 << 20;
  const SizePlan plan =
      limit_sizes(collectives::all_reduce, o, 4, {20, CacheUse::rotate, 0, 0, limit});
  EXPECT_THAT(plan.sizes, ElementsAre(1 << 20, 4 << 20));
  EXPECT_FALSE(plan.reduced_max);
  for (const std::size_t size : plan.sizes) {
    const Shape shape{size / 4, 4, {0, 4}, o.spec};
    const Slots slots = row_slots(collectives::all_reduce, shape, 0, plan.slots);
    EXPECT_LE(slots.end(), limit);
    EXPECT_EQ(slots.count, size == 1 << 20 ? 4U : 1U);
  }
}

TEST(MemoryLimit, OfABarrierIsOneRowOfSize0) {
  const SizePlan plan = limit_sizes(collectives::barrier, sizes({gib}), 4, within(100));
  EXPECT_THAT(plan.sizes, ElementsAre(0));
}

constexpr std::size_t mib = std::size_t{1} << 20;

std::vector<SlotRule> rules() {
  std::vector<SlotRule> all;
  for (const CacheUse use : {CacheUse::warm, CacheUse::rotate, CacheUse::cold})
    for (const std::size_t cache : {std::size_t{0}, mib / 4, 2 * mib})
      all.push_back({1, use, cache});
  return all;
}

TEST(Slots, NeverOverlapAndTheirGuardsFit) {
  for (const std::size_t bytes :
       {0UL, 1UL, 8UL, 63UL, 64UL, 65UL, 4096UL, 100'000UL, 70'000'001UL}) {
    for (const std::size_t shift : {0UL, 4UL, 4097UL}) {
      for (const SlotRule& rule : rules()) {
        for (const std::size_t wanted : {1UL, 2UL, 20UL, 100'000UL}) {
          SlotRule of_calls = rule;
          of_calls.wanted = wanted;
          const Slots slots = plan_slots(bytes, shift, of_calls);
          ASSERT_GE(slots.count, 1U);
          EXPECT_LE(slots.count, wanted);
          EXPECT_GE(slots.offset(0), verify::guard_bytes);
          EXPECT_EQ(slots.offset(0) - verify::guard_bytes, shift);
          const std::size_t end = slots.offset(slots.count - 1) + bytes + verify::guard_bytes;
          EXPECT_LE(end, slots.end()) << bytes << ' ' << shift << ' ' << wanted;
          if (slots.count > 1) {
            EXPECT_GE(slots.offset(1), slots.offset(0) + bytes + verify::guard_bytes);
            EXPECT_EQ((slots.offset(1) - slots.offset(0)) % 64, 0U);
          }
        }
      }
    }
  }
}

TEST(Slots, OfBothBuffersTakeHalfOfACoresCacheAndFewPages) {
  constexpr std::size_t cache = 1 << 20;
  const auto slots = [](std::size_t bytes, std::size_t wanted) {
    return plan_slots(bytes, 0, {wanted, CacheUse::warm, cache}).count;
  };
  EXPECT_EQ(slots(8, 30), 30U);
  EXPECT_EQ(slots(8, 1000), 32U);
  EXPECT_EQ(slots(256, 1000), 16U);  // of both buffers 8 KiB, in the first-level cache
  EXPECT_EQ(slots(1 << 10, 1000), 4U);
  EXPECT_EQ(slots(2 << 10, 1000), 2U);
  EXPECT_EQ(slots(4 << 10, 1000), 32U);  // not even two stay there
  EXPECT_EQ(slots(16 << 10, 1000), 16U);
  for (const std::size_t bytes : {64UL << 10, 100'000UL, 128UL << 10})
    EXPECT_LE(2 * slots(bytes, 1000) * bytes, cache / 2) << bytes;
  EXPECT_EQ(slots(64 << 10, 40), 4U);
  for (const std::size_t bytes : {100'000UL, 128UL << 10, 1UL << 20, 2UL << 20})
    EXPECT_EQ(slots(bytes, 40), 1U) << bytes;  // as a program that repeats a call
  EXPECT_EQ(slots(64 << 20, 40), 1U);
}

TEST(Slots, RotateOverFourTimesTheCacheWhateverTheSweepIs) {
  const auto slots = [](std::size_t bytes, std::size_t cache) {
    return plan_slots(bytes, 0, {1000, CacheUse::rotate, cache}).count;
  };
  EXPECT_EQ(slots(1 << 20, 50 * mib), 100U);  // of each of two buffers
  EXPECT_EQ(slots(64 << 20, 50 * mib), 2U);
  EXPECT_EQ(slots(1 << 30, 50 * mib), 1U);
  EXPECT_EQ(slots(8, 50 * mib), 1000U);
  EXPECT_EQ(slots(1 << 20, 0), 64U);  // a cache of a size that is not known
  EXPECT_EQ(plan_slots(8, 0, {20, CacheUse::rotate, 50 * mib}).count, 20U);
}

TEST(Slots, OfColdRowsHoldTwiceTheLastCacheAndTheirGuards) {
  for (const std::size_t cache : {8 * mib, 32 * mib, 260 * mib}) {
    const SlotRule rule{std::numeric_limits<std::size_t>::max(), CacheUse::cold, cache};
    for (const std::size_t bytes : {8UL, 4096UL, 64UL << 10, 1UL << 20, 3'000'000UL, 1UL << 28}) {
      const Slots slots = plan_slots(bytes, 0, rule);
      const std::size_t data = 2 * slots.count * bytes;
      // Each call finds its data gone: by the calls between, or since no call has used the slot.
      EXPECT_TRUE(calls_per_block(slots, rule) == slots.count || data >= 2 * cache) << bytes;
      EXPECT_EQ(calls_per_block(slots, rule) == 0, bytes >= 64 << 10) << bytes;
      EXPECT_GE(2 * slots.count * slots.stride, 2 * cache) << bytes;
      EXPECT_LE(slots.end(), std::max(2 * cache, bytes + 2 * slots.offset(0))) << bytes;
    }
  }
}

TEST(Slots, OfWarmRowsAreUsedByAnyNumberOfCalls) {
  const SlotRule rule{40, CacheUse::warm, mib};
  EXPECT_EQ(calls_per_block(plan_slots(8, 0, rule), rule), 0U);
  const SlotRule rotated{40, CacheUse::rotate, mib};
  EXPECT_EQ(calls_per_block(plan_slots(8, 0, rotated), rotated), 0U);
}

TEST(Slots, OfARowThatMemoryLimitsAreUsedOnce) {
  const SlotRule rule{1000, CacheUse::cold, 32 * mib, 0, 5 * mib};
  const Slots slots = plan_slots(1 << 20, 0, rule);
  EXPECT_EQ(slots.count, 4U);
  EXPECT_EQ(calls_per_block(slots, rule), 4U);
  EXPECT_EQ(footprint(rule), 64 * mib);
  EXPECT_EQ(footprint_to_be_had(rule), 10 * mib);
}

RankTable ranks_with_caches(int number) {
  RankTable table;
  for (int r = 0; r < number; ++r) {
    RankIdentity rank;
    rank.machine = "m" + std::to_string(r / 2);
    rank.memory = 10 * gib;
    rank.core_cache = mib * static_cast<std::size_t>(1 + r % 2);
    rank.last_cache = 32 * mib;
    rank.device.cache_bytes = 50 * mib;
    table.ranks.push_back(rank);
  }
  return table;
}

TEST(RuleOfSlots, IsTheSameForAllRanksAndFromTheLargestCache) {
  const RankTable table = ranks_with_caches(4);
  Options o;
  o.measure.batch = true;
  const SlotRule warm = slot_rule_of(o, table, Memory::host);
  EXPECT_EQ(warm.use, CacheUse::warm);
  EXPECT_EQ(warm.cache_bytes, 2 * mib);
  EXPECT_EQ(warm.wanted, 40U);
  const SlotRule gpu = slot_rule_of(o, table, Memory::cuda);
  EXPECT_EQ(gpu.use, CacheUse::rotate);
  EXPECT_EQ(gpu.cache_bytes, 50 * mib);
  o.measure.cache = CacheUse::cold;
  const SlotRule cold = slot_rule_of(o, table, Memory::host);
  EXPECT_EQ(cold.cache_bytes, 32 * mib);
  EXPECT_EQ(cold.flush_bytes, 32 * mib);  // twice the cache, by the two ranks of a machine
  EXPECT_EQ(slot_rule_of(o, table, Memory::cuda).flush_bytes, 100 * mib);
  EXPECT_EQ(warm.flush_bytes, 0U);
}

TEST(RuleOfSlots, LeavesMemoryForTheFlush) {
  const RankTable table = ranks_with_caches(2);
  const RankGroups groups(SplitRule(), table.places());
  Options o = sizes({8});
  const auto most = [&] {
    return plan_sizes(collectives::all_reduce, o, table, groups, Memory::host,
                      {.name = "lib", .scratch_factor = 0.0})
        .slots.most_bytes;
  };
  const std::size_t warm = most();
  EXPECT_EQ(warm, buffer_limit(10 * gib, 2, 0));
  o.measure.cache = CacheUse::cold;
  EXPECT_EQ(most(), buffer_limit(10 * gib - 64 * mib, 2, 0));
}

}  // namespace
}  // namespace ccl_tests
