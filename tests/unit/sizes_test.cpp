// Sizes: how they are written, and which a sweep has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"
#include "src/options/options.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sizes, AreBinaryInEitherCase) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("8"), 8U);
  for (const char* text : {"64M", "64m", "64MB", "64MiB", "64mib", "64Mi", "65536K", "0.0625G"}) {
    EXPECT_EQ(parse_size(text), std::size_t{64} << 20) << text;
  }
  EXPECT_EQ(parse_size("1.5G"), std::size_t{3} << 29);
  EXPECT_EQ(parse_size("2T"), std::size_t{2} << 40);
  EXPECT_EQ(parse_size("9007199254740992"), std::size_t{1} << 53);
}

Options range(std::size_t min, std::size_t max, std::size_t step, int factor) {
  Options o;
  o.min_bytes = min;
  o.max_bytes = max;
  o.step_bytes = step;
  o.step_factor = factor;
  return o;
}

TEST(Sizes, OfASweep) {
  EXPECT_THAT(sweep_sizes(range(8, 64, 1, 2)), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sweep_sizes(range(8, 63, 1, 2)), ElementsAre(8, 16, 32));
  EXPECT_THAT(sweep_sizes(range(8, 100, 1, 3)), ElementsAre(8, 24, 72));
  EXPECT_THAT(sweep_sizes(range(8, 24, 8, 1)), ElementsAre(8, 16, 24));
  EXPECT_THAT(sweep_sizes(range(0, 20, 8, 1)), ElementsAre(0, 8, 16));
  EXPECT_THAT(sweep_sizes(range(0, 0, 8, 2)), ElementsAre(0));
  EXPECT_THAT(sweep_sizes(range(5, 5, 1, 2)), ElementsAre(5));
  Options o = range(8, 64, 1, 2);
  o.sizes = {3, 1, 3};
  EXPECT_THAT(sweep_sizes(o), ElementsAre(3, 1, 3));
}

TEST(Sizes, EndBeforeTheyOverflow) {
  const std::size_t top = parse_size("9000000000000000000");
  EXPECT_THAT(sweep_sizes(range(top / 2, top, 1, 2)), ElementsAre(top / 2, top));
  EXPECT_THAT(sweep_sizes(range(top, top, top, 1)), ElementsAre(top));
  EXPECT_THAT(sweep_sizes(range(top, top, 1, 2'147'483'647)), ElementsAre(top));
  EXPECT_THAT(sweep_sizes(range(1, top, 1, 2'147'483'647)),
              ElementsAre(1, 2'147'483'647, 4'611'686'014'132'420'609));
  EXPECT_THAT(sweep_sizes(range(SIZE_MAX - 1, SIZE_MAX, 5, 1)), ElementsAre(SIZE_MAX - 1));
}

TEST(Names, TheNearestIsSuggested) {
  EXPECT_EQ(nearest("flot", {"float", "half"}), "float");
  EXPECT_EQ(nearest("mulsim", {"sum", "mulsum"}), "mulsum");
  try {
    parse_types("bfloat");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'bfloat', did you mean 'float'?"));
  }
}

}  // namespace
}  // namespace ccl_tests
