// A mismatch says what the wrong values are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify_world.hpp"

namespace ccl_tests::verify {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t count = 5000;
constexpr std::size_t slot = 5;

std::string moved(const VerifyWorld& world, const std::vector<std::byte>& data) {
  const ExpectedBlock s{.count = count, .source_rank = 2, .source_offset = 0};
  return world.rank(0).compare(data.data(), {&s, 1}, slot).explanation;
}

std::string reduced(const VerifyWorld& world, const std::vector<std::byte>& data) {
  const ExpectedBlock s{.count = count};
  return world.rank(1).compare(data.data(), {&s, 1}, slot).explanation;
}

class Explanation : public testing::TestWithParam<DataType> {};

TEST_P(Explanation, OfMovedData) {
  const VerifyWorld world(GetParam(), std::nullopt, 4);
  EXPECT_EQ(moved(world, world.input(2, count, slot)), "");
  EXPECT_THAT(moved(world, world.input(0, count, slot)),
              HasSubstr("rank 0's data instead of rank 2"));
  EXPECT_THAT(moved(world, world.input(3, count, slot)),
              HasSubstr("rank 3's data instead of rank 2"));
  EXPECT_THAT(moved(world, world.input(2, count, slot - 1)), HasSubstr("an earlier call"));
  auto shifted = world.input(2, count + 1, slot);
  shifted.erase(shifted.begin(), shifted.begin() + static_cast<std::ptrdiff_t>(world.width));
  EXPECT_THAT(moved(world, shifted), HasSubstr("rank 2's data from element 1 "));
  auto swapped = world.input(2, count, slot);
  const auto block = static_cast<std::ptrdiff_t>(1000 * world.width);
  std::swap_ranges(swapped.begin(), swapped.begin() + block, swapped.begin() + 3 * block);
  EXPECT_THAT(moved(world, swapped), HasSubstr("rank 2's data from element 3000 "));
  std::vector<std::byte> noise(count * world.width, std::byte{0x11});
  EXPECT_THAT(moved(world, noise), Not(HasSubstr(": ")));
}

TEST_P(Explanation, OfReducedData) {
  for (const ReduceOp op : ops_of(GetParam())) {
    SCOPED_TRACE(name(op));
    const VerifyWorld world(GetParam(), op, 4);
    EXPECT_EQ(reduced(world, world.reduced(count, slot)), "");
    EXPECT_THAT(reduced(world, world.input(1, count, slot)), HasSubstr("this rank's own input"));
    EXPECT_THAT(reduced(world, world.reduced(count, slot - 1)), HasSubstr("an earlier call"));
    EXPECT_THAT(reduced(world, world.reduced(count, slot, 3)), HasSubstr("without rank 3"));
    EXPECT_THAT(reduced(world, world.reduced(count, slot, 2)), HasSubstr("without rank 2"));
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Explanation,
                         testing::ValuesIn(all_types().begin(), all_types().end()),
                         [](const auto& test) { return std::string(name(test.param)); });

// Whichever of the two averaged ranks is lost, the values are the same.
TEST(Explanations, NameBothContributorsOfAnEightBitAverage) {
  const VerifyWorld world(DataType::f8e4m3, ReduceOp::avg, 6);
  EXPECT_THAT(reduced(world, world.reduced(count, slot, 2)), HasSubstr(", or without rank "));
}

TEST(Explanations, OfBlocksOfAnotherPlace) {
  const VerifyWorld world(DataType::float64, ReduceOp::sum, 4);
  auto swapped = world.reduced(count, slot);
  std::swap_ranges(swapped.begin(), swapped.begin() + 8000, swapped.begin() + 16'000);
  EXPECT_THAT(reduced(world, swapped), HasSubstr("the result of element 2000 "));
}

TEST(Explanations, GiveExpectedAndFoundBits) {
  const VerifyWorld world(DataType::uint8, ReduceOp::sum, 1);
  auto data = world.reduced(count, slot);
  const auto right = std::to_integer<unsigned>(data[7]);
  data[7] = static_cast<std::byte>(right ^ 0xffU);
  char text[64];
  std::snprintf(text, sizeof text, "expected 0x%02x, found 0x%02x", right, right ^ 0xffU);
  const ExpectedBlock s{.count = count};
  EXPECT_THAT(world.rank(0).compare(data.data(), {&s, 1}, slot).explanation, HasSubstr(text));
}

}  // namespace
}  // namespace ccl_tests::verify
