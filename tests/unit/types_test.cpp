// Conversions of the floating-point formats that C++ has no type for.
#include "src/core/types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace ccl_tests {
namespace {

template <class T>
class SmallFloat : public testing::Test {};
using SmallFloats = testing::Types<Half, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallFloat, SmallFloats);

template <class T>
using Bits = decltype(T::bits);

template <class T>
double value(unsigned bits) {
  return to_double(T{static_cast<Bits<T>>(bits)});
}

template <class T>
unsigned nearest(double x) {
  return from_double<T>(x).bits;
}

template <class T>
constexpr unsigned patterns = 1U << (8 * sizeof(T));

TYPED_TEST(SmallFloat, EveryPatternSurvivesTheRoundTrip) {
  for (unsigned bits = 0; bits < patterns<TypeParam>; ++bits) {
    const double x = value<TypeParam>(bits);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(value<TypeParam>(nearest<TypeParam>(x)))) << bits;
    } else {
      EXPECT_EQ(nearest<TypeParam>(x), bits) << x;
    }
  }
}

TYPED_TEST(SmallFloat, PositivePatternsAscendAndNegativeOnesMirrorThem) {
  constexpr unsigned sign = patterns<TypeParam> / 2;
  for (unsigned bits = 0; bits + 1 < sign; ++bits) {
    if (std::isnan(value<TypeParam>(bits + 1))) break;
    EXPECT_LT(value<TypeParam>(bits), value<TypeParam>(bits + 1));
    EXPECT_EQ(value<TypeParam>(bits | sign), -value<TypeParam>(bits));
    EXPECT_EQ(std::signbit(value<TypeParam>(bits | sign)), true);
  }
}

TYPED_TEST(SmallFloat, RoundsToNearestTiesToEven) {
  constexpr unsigned sign = patterns<TypeParam> / 2;
  for (unsigned bits = 0; bits + 1 < sign; ++bits) {
    const double low = value<TypeParam>(bits);
    const double high = value<TypeParam>(bits + 1);
    if (!std::isfinite(high)) break;
    const double middle = (low + high) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(nearest<TypeParam>(middle), even) << middle;
    EXPECT_EQ(nearest<TypeParam>(-middle), even | sign) << -middle;
    EXPECT_EQ(nearest<TypeParam>(std::nextafter(middle, low)), bits) << middle;
    EXPECT_EQ(nearest<TypeParam>(std::nextafter(middle, high)), bits + 1) << middle;
  }
}

TYPED_TEST(SmallFloat, FormatIsWhatTheConversionsDo) {
  constexpr FloatFormat format = float_format<TypeParam>();
  const auto exact = [](double x) { return value<TypeParam>(nearest<TypeParam>(x)) == x; };
  const double integers = std::ldexp(1.0, format.significand);
  EXPECT_TRUE(exact(integers - 1));
  EXPECT_FALSE(exact(integers + 1));
  EXPECT_TRUE(exact(std::ldexp(1.0, format.max_exponent)));
  EXPECT_FALSE(std::isfinite(
      value<TypeParam>(nearest<TypeParam>(std::ldexp(1.0, format.max_exponent + 1)))));
  // Full precision ends below the smallest normal value.
  const double odd = std::ldexp(integers - 1, format.min_exponent - format.significand + 1);
  EXPECT_TRUE(exact(odd));
  EXPECT_FALSE(exact(odd / 2));
}

TEST(Types, KnownHalfValues) {
  EXPECT_EQ(value<Half>(0x3c00), 1);
  EXPECT_EQ(value<Half>(0xc000), -2);
  EXPECT_EQ(value<Half>(0x7bff), 65504);
  EXPECT_EQ(value<Half>(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(value<Half>(0x3555), 0.333251953125);
  EXPECT_EQ(nearest<Half>(65519.99), 0x7bffU);
  EXPECT_EQ(nearest<Half>(65520), 0x7c00U);
  EXPECT_EQ(nearest<Half>(-1e300), 0xfc00U);
  EXPECT_EQ(nearest<Half>(std::ldexp(1.0, -25)), 0U);
  EXPECT_EQ(nearest<Half>(-0.0), 0x8000U);
}

TEST(Types, BFloat16IsTheUpperHalfOfAFloat) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto expected = static_cast<double>(std::bit_cast<float>(bits << 16));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value<BFloat16>(bits)));
    } else {
      EXPECT_EQ(value<BFloat16>(bits), expected);
    }
  }
}

TEST(Types, KnownFloat8Values) {
  EXPECT_EQ(value<Float8E4M3>(0x7e), 448);
  EXPECT_EQ(value<Float8E4M3>(0x08), std::ldexp(1.0, -6));
  EXPECT_EQ(value<Float8E4M3>(0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(value<Float8E4M3>(0x38), 1);
  EXPECT_EQ(nearest<Float8E4M3>(464), 0x7eU);  // halfway to 480, which is not a number
  for (const double beyond : {465.0, 480.0, 1e9, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(nearest<Float8E4M3>(beyond), 0x7fU) << beyond;
    EXPECT_EQ(nearest<Float8E4M3>(-beyond), 0xffU) << beyond;
  }
  int nans = 0;
  for (unsigned bits = 0; bits < 256; ++bits) {
    EXPECT_FALSE(std::isinf(value<Float8E4M3>(bits)));
    nans += std::isnan(value<Float8E4M3>(bits)) ? 1 : 0;
  }
  EXPECT_EQ(nans, 2);

  EXPECT_EQ(value<Float8E5M2>(0x7b), 57344);
  EXPECT_EQ(value<Float8E5M2>(0x01), std::ldexp(1.0, -16));
  EXPECT_EQ(nearest<Float8E5M2>(61439), 0x7bU);
  EXPECT_EQ(nearest<Float8E5M2>(61440), 0x7cU);
  EXPECT_TRUE(std::isinf(value<Float8E5M2>(0xfc)));
}

TEST(Types, NamesAreReadBack) {
  for (const DataType type : all_types()) EXPECT_EQ(parse_type(name(type)), type);
  for (const ReduceOp op : every_op()) EXPECT_EQ(parse_op(name(op)), op);
  EXPECT_EQ(all_types().size(), 12U);
  EXPECT_EQ(all_ops().size(), 6U);
  EXPECT_EQ(parse_type("float32"), std::nullopt);
  EXPECT_EQ(parse_op(""), std::nullopt);
}

TEST(Types, BitwiseOperationsAreForIntegers) {
  const auto bitwise = every_op().subspan(all_ops().size());
  EXPECT_EQ(std::vector(bitwise.begin(), bitwise.end()),
            (std::vector{ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}));
  for (const DataType type : all_types()) {
    const bool integer = with_type(type, []<class T>() { return std::is_integral_v<T>; });
    EXPECT_EQ(ops_of(type).size(), integer ? every_op().size() : all_ops().size()) << name(type);
  }
}

TEST(Types, NamesBelongToTheTypes) {
  EXPECT_EQ(
      with_type(*parse_type("bfloat16"), []<class T>() { return std::is_same_v<T, BFloat16>; }),
      true);
  const std::pair<const char*, std::size_t> widths[] = {
      {"int8", 1}, {"uint8", 1}, {"int32", 4},  {"uint32", 4},   {"int64", 8},  {"uint64", 8},
      {"half", 2}, {"float", 4}, {"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1}};
  for (const auto& [text, width] : widths) EXPECT_EQ(size_of(*parse_type(text)), width) << text;
}

}  // namespace
}  // namespace ccl_tests
