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

Options sizes(std::vector<std::size_t> list) {
  Options o;
  o.sweep.sizes = std::move(list);
  return o;
}

TEST(MemoryLimit, KeepsTheSizesThatFit) {
  const Options o = sizes({8, 1 << 20, 64 << 20, gib});
  const SizePlan all = limit_sizes(collectives::all_reduce, o, 4, 2 * gib);
  EXPECT_THAT(all.sizes, ElementsAre(8, 1 << 20, 64 << 20, gib));
  EXPECT_FALSE(all.reduced_max);
  const SizePlan some = limit_sizes(collectives::all_reduce, o, 4, 65 << 20);
  EXPECT_THAT(some.sizes, ElementsAre(8, 1 << 20, 64 << 20));
  EXPECT_EQ(some.reduced_max, std::size_t{65} << 20);
  EXPECT_THROW(limit_sizes(collectives::all_reduce, sizes({gib}), 4, 65 << 20), Unsupported);
}

TEST(MemoryLimit, CountsTheGuardsAndTheShift) {
  Options o = sizes({64 << 20});
  EXPECT_THROW(limit_sizes(collectives::all_reduce, o, 4, 64 << 20), Unsupported);
  EXPECT_NO_THROW(limit_sizes(collectives::all_reduce, o, 4, (64 << 20) + 16384));
  o.sweep.unalign = 16384;
  EXPECT_THROW(limit_sizes(collectives::all_reduce, o, 4, (64 << 20) + 16384), Unsupported);
}

TEST(MemoryLimit, OfABarrierIsOneRowOfSize0) {
  const SizePlan plan = limit_sizes(collectives::barrier, sizes({gib}), 4, 100);
  EXPECT_THAT(plan.sizes, ElementsAre(0));
}

TEST(Slots, NeverOverlapAndTheirGuardsFit) {
  for (const std::size_t bytes :
       {0UL, 1UL, 8UL, 63UL, 64UL, 65UL, 4096UL, 100'000UL, 70'000'001UL}) {
    for (const std::size_t shift : {0UL, 4UL, 4097UL}) {
      const std::size_t least = buffer_bytes(bytes, shift);
      for (const std::size_t buffer : {least, least + 1, 2 * least, 3 * least + 5}) {
        for (const std::size_t wanted : {1UL, 2UL, 20UL, 100'000UL}) {
          const Slots slots = plan_slots(bytes, shift, buffer, wanted);
          ASSERT_GE(slots.count, 1U);
          EXPECT_LE(slots.count, std::max<std::size_t>(1, wanted));
          EXPECT_GE(slots.offset(0), verify::guard_bytes);
          EXPECT_EQ(slots.offset(0) - verify::guard_bytes, shift);
          const std::size_t end = slots.offset(slots.count - 1) + bytes + verify::guard_bytes;
          EXPECT_LE(end, buffer) << bytes << ' ' << shift << ' ' << wanted;
          if (slots.count > 1) {
            EXPECT_GE(slots.offset(1), slots.offset(0) + bytes + verify::guard_bytes);
            EXPECT_EQ((slots.offset(1) - slots.offset(0)) % 64, 0U);
          }
        }
      }
    }
  }
}

TEST(Slots, ShortMessagesRotateEvenInTheSmallestBuffer) {
  EXPECT_GE(plan_slots(8, 0, buffer_bytes(8, 0), 20).count, 20U);
  EXPECT_EQ(plan_slots(100 << 20, 0, std::size_t{1} << 30, 20).count, 2U);
  EXPECT_EQ(plan_slots(8, 0, 1 << 18, 3).count, 3U);
}

}  // namespace
}  // namespace ccl_tests
