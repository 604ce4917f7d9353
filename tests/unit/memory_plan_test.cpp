// Which sizes fit into memory, and where slots lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/run/memory_limit.hpp"
#include "src/run/slots.hpp"

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

constexpr SlotRule within(std::size_t bytes) { return {20, 1 << 20, bytes}; }

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
  const SizePlan plan = limit_sizes(collectives::all_reduce, o, 4, {20, 0, limit});
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

TEST(Slots, NeverOverlapAndTheirGuardsFit) {
  for (const std::size_t bytes :
       {0UL, 1UL, 8UL, 63UL, 64UL, 65UL, 4096UL, 100'000UL, 70'000'001UL}) {
    for (const std::size_t shift : {0UL, 4UL, 4097UL}) {
      for (const std::size_t cache : {0UL, 1UL << 18, 1UL << 21}) {
        for (const std::size_t wanted : {1UL, 2UL, 20UL, 100'000UL}) {
          const Slots slots = plan_slots(bytes, shift, {wanted, cache});
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

TEST(Slots, OfBothBuffersStayWithinACoresCache) {
  constexpr std::size_t cache = 1 << 20;
  EXPECT_EQ(plan_slots(8, 0, {40, cache}).count, 40U);
  for (const std::size_t bytes : {64UL << 10, 100'000UL, 128UL << 10})
    EXPECT_LE(2 * plan_slots(bytes, 0, {1000, cache}).count * bytes, cache) << bytes;
  EXPECT_EQ(plan_slots(1 << 20, 0, {40, cache}).count, 2U);
  EXPECT_EQ(plan_slots(8 << 20, 0, {40, cache}).count, 2U);
  EXPECT_EQ(plan_slots(64 << 20, 0, {40, cache}).count, 1U);
}

TEST(Slots, WithoutACacheRotateOver64MiB) {
  EXPECT_EQ(plan_slots(8, 0, {20, 0}).count, 20U);
  EXPECT_EQ(plan_slots(1 << 20, 0, {1000, 0}).count, 63U);
  EXPECT_EQ(plan_slots(1 << 30, 0, {20, 0}).count, 1U);
}

}  // namespace
}  // namespace ccl_tests
