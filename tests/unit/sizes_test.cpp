// Sizes: how they are written, and which a sweep has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
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
  for (const char* text : {"8", "8B", "8b", "0.8e1", "80e-1"})
    EXPECT_EQ(parse_size(text), 8U) << text;
  for (const char* text : {"1e6", "1E6", "1000000"}) EXPECT_EQ(parse_size(text), 1000000U) << text;
  EXPECT_EQ(parse_size("1.1K"), 1126U);
}

std::string refusal_of_size(const std::string& text) {
  try {
    parse_size(text);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Sizes, AreWholeBytes) {
  EXPECT_EQ(refusal_of_size("1.5"), "'1.5' is 1.5 B; accepted: whole bytes");
  EXPECT_EQ(refusal_of_size("0.0005K"), "'0.0005K' is 0.512 B; accepted: whole bytes");
  for (const char* text : {"0.5", "1.5B", "0.9K", "1e-3"})
    EXPECT_THAT(refusal_of_size(text), HasSubstr("accepted: whole bytes")) << text;
  for (const char* text :
       {"1e", "8BB", "8BK", "0x10", "inf", "nan", "1e400", "-1", "e6", "1e6Q", "B", ""})
    EXPECT_THAT(refusal_of_size(text), HasSubstr("is not a size")) << text;
}

SweepOptions range(std::size_t min, std::size_t max, std::size_t step, int factor) {
  SweepOptions o;
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
  SweepOptions o = range(8, 64, 1, 2);
  o.sizes = {3, 1, 3};
  EXPECT_THAT(sweep_sizes(o), ElementsAre(3, 1, 3));
}

TEST(Sizes, OddOnesAreNoPowersOfTwoButWholeElementsOfEveryType) {
  const std::vector<std::size_t> sizes = odd_sizes();
  EXPECT_EQ(sizes.front(), 8U);
  EXPECT_EQ(sizes.size(), 25U);  // as the help says
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  for (const std::size_t size : sizes) {
    EXPECT_EQ(size % sizeof(double), 0U) << size;
    EXPECT_TRUE(size == 8 || (size & (size - 1)) != 0) << size;
  }
  EXPECT_EQ(parse_sizes("odd"), sizes);
  EXPECT_EQ(parse_sizes("1K,odd,2K").size(), sizes.size() + 2);
  EXPECT_THROW(parse_sizes("odd,"), UsageError);
  EXPECT_THROW(parse_sizes("even"), UsageError);
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

std::string refusal_of_type(const std::string& text) {
  try {
    parse_types(text);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Names, OnlyANearOneIsSuggested) {
  EXPECT_EQ(suggestion("flot", {"float", "half"}), "float");
  EXPECT_EQ(suggestion("mulsim", {"sum", "mulsum"}), "mulsum");
  EXPECT_EQ(suggestion("SUM", {"sum", "mulsum"}), "sum");
  EXPECT_EQ(suggestion("Float32", {"float", "half"}), "float");
  EXPECT_EQ(suggestion("wranup", {"warmup"}), "warmup");  // two letters changed places: one edit
  EXPECT_EQ(suggestion("foo", {"bor", "sum"}), std::nullopt);
  EXPECT_EQ(suggestion("quaternion", {"float", "half"}), std::nullopt);
  EXPECT_EQ(suggestion("", {"float", "half"}), std::nullopt);
  EXPECT_THAT(refusal_of_type("bfloat"), HasSubstr("'bfloat', did you mean 'float'?"));
  EXPECT_THAT(refusal_of_type("foo"), HasSubstr("unknown type 'foo'; accepted: int8"));
}

TEST(Names, ShortOnesOfTypesAreRead) {
  EXPECT_EQ(
      parse_types("fp16,bf16,fp32,fp64"),
      (std::vector{DataType::half, DataType::bfloat16, DataType::float32, DataType::float64}));
  EXPECT_EQ(parse_types("half,fp16"), (std::vector{DataType::half, DataType::half}));
  for (const char* text : {"fp8", "FP16", "fp160", "bf", "fp16,"})
    EXPECT_NE(refusal_of_type(text), "(accepted)") << text;
}

TEST(Names, OfOtherToolsSuggestOurs) {
  EXPECT_THAT(refusal_of_type("float16"), HasSubstr("did you mean 'half'?"));
  EXPECT_THAT(refusal_of_type("float32"), HasSubstr("did you mean 'float'?"));
  EXPECT_THAT(refusal_of_type("f64"), HasSubstr("did you mean 'double'?"));
}

TEST(Sizes, AreWrittenInTheLargestUnitThatDividesThem) {
  EXPECT_EQ(size_text(0), "0");
  EXPECT_EQ(size_text(32 << 20), "32M");
  EXPECT_EQ(size_text(1025), "1025");
  EXPECT_EQ(size_text(std::size_t{3} << 40), "3T");
  EXPECT_EQ(parse_size(size_text(std::size_t{5} << 41)), std::size_t{5} << 41);
}

TEST(Values, AreShownOnOneLineAndShortened) {
  EXPECT_EQ(quote("a b"), "'a b'");
  EXPECT_EQ(quote("\n\t\r\x1b[31m\x7f"), "'\\n\\t\\r\\x1b[31m\\x7f'");
  EXPECT_EQ(quote(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quote(std::string(5000, 'x')), "'" + std::string(60, 'x') + "...' (5000 characters)");
  std::string umlauts(59, 'x');
  umlauts.append("\u00e4\u00e4");  // no half of a character
  EXPECT_EQ(quote(umlauts), "'" + std::string(59, 'x') + "...' (63 characters)");
}

TEST(Values, AreOneWordOfAShellInQuotes) {
  EXPECT_EQ(shell_quoted("a'b"), "'a'\\''b'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace ccl_tests
