// The modules' element-wise functions against the textbook's, bit for bit.
#include "src/core/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "src/backends/loopback.hpp"
#include "src/core/error.hpp"
#include "src/core/small_float.hpp"

namespace ccl_tests {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
bool is_nan(T value) {
  if constexpr (is_float<T>) return std::isnan(to_double<T>(value));
  return false;
}

// NaNs may differ in their bits.
template <class T>
void expect_same(DataType type, ReduceOp op, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> got(a.size()), wanted(a.size());
  combine_function(type, op)(got.data(), a.data(), b.data(), a.size());
  const std::string inputs[] = {bytes_of(a), bytes_of(b)};
  textbook::reduce(reinterpret_cast<std::byte*>(wanted.data()), inputs, 0, a.size(), type, op);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_nan(a[i]) || is_nan(b[i]) || (is_nan(got[i]) && is_nan(wanted[i]))) continue;
    ASSERT_EQ(std::memcmp(&got[i], &wanted[i], sizeof(T)), 0)
        << name(type) << ' ' << name(op) << " element " << i;
  }
}

// -0 and +0 are equal: which of them min and max return is nobody's promise.
template <class T>
bool zeros(T a, T b) {
  if constexpr (is_float<T>) return to_double<T>(a) == 0 && to_double<T>(b) == 0;
  return false;
}

template <class T, class Draw>
void check_pairs(DataType type, std::size_t pairs, Draw&& draw) {
  std::vector<T> a, b;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto [x, y] = draw(i);
    if (zeros(x, y)) continue;
    a.push_back(x);
    b.push_back(y);
  }
  for (const ReduceOp op : ops_of(type)) {
    if (op != ReduceOp::avg && op != ReduceOp::mulsum) expect_same(type, op, a, b);
  }
}

TEST(GlooReduction, EightBitFloatsForAllPairs) {
  for (const DataType type : {DataType::f8e4m3, DataType::f8e5m2}) {
    with_type(type, [&]<class T>() {
      if constexpr (sizeof(T) == 1) {
        check_pairs<T>(type, 65536, [](std::size_t i) {
          return std::pair(std::bit_cast<T>(static_cast<std::uint8_t>(i)),
                           std::bit_cast<T>(static_cast<std::uint8_t>(i >> 8)));
        });
      }
    });
  }
}

TEST(GlooReduction, RandomBitsOfEveryType) {
  std::mt19937_64 random(1);
  for (const DataType type : all_types()) {
    with_type(type, [&]<class T>() {
      check_pairs<T>(type, 50'000, [&](std::size_t) {
        const std::uint64_t bits[] = {random(), random()};
        T a, b;
        std::memcpy(&a, &bits[0], sizeof(T));
        std::memcpy(&b, &bits[1], sizeof(T));
        return std::pair(a, b);
      });
    });
  }
}

TEST(GlooReduction, ANaNWinsOnEitherSide) {
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    const Half nan{0x7e00}, one{0x3c00};
    Half left{}, right{};
    combine_function(DataType::half, op)(&left, &nan, &one, 1);
    combine_function(DataType::half, op)(&right, &one, &nan, 1);
    EXPECT_EQ(left.bits, nan.bits) << name(op);
    EXPECT_EQ(right.bits, nan.bits) << name(op);
  }
}

TEST(GlooReduction, NothingBitwiseOnFloats) {
  const std::string inputs[] = {"0123", "4567"};
  std::byte out[4];
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
    for (const DataType type : {DataType::float32, DataType::half, DataType::f8e4m3}) {
      EXPECT_THROW(combine_function(type, op), Unsupported) << name(type);
      EXPECT_THROW(textbook::reduce(out, inputs, 0, 1, type, op), Unsupported) << name(type);
    }
  }
}

TEST(GlooReduction, SmallFloatsConvertAsTheCoreDoes) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    if (!is_nan(half)) {
      ASSERT_EQ(static_cast<double>(to_float(half)), to_double(half)) << bits;
      ASSERT_EQ(from_float<Half>(to_float(half)).bits, bits);
    }
    if (!is_nan(brain)) {
      ASSERT_EQ(static_cast<double>(to_float(brain)), to_double(brain)) << bits;
      ASSERT_EQ(from_float<BFloat16>(to_float(brain)).bits, bits);
    }
  }
}

TEST(GlooReduction, DivisionTruncatesTowardZeroAndNeverWraps) {
  std::vector<std::int8_t> bytes = {-128, -127, -7, -1, 0, 1, 7, 127};
  divide(DataType::int8, bytes.data(), bytes.size(), 3);
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{-42, -42, -2, 0, 0, 0, 2, 42}));
  std::vector<std::int8_t> many = {-128, 127};
  divide(DataType::int8, many.data(), many.size(), 256);  // 256 does not fit the type
  EXPECT_EQ(many, (std::vector<std::int8_t>{0, 0}));
  std::vector<std::uint64_t> big = {~std::uint64_t{0}};
  divide(DataType::uint64, big.data(), 1, 2);
  EXPECT_EQ(big[0], ~std::uint64_t{0} / 2);
}

TEST(GlooReduction, MultiplicationWraps) {
  std::vector<std::int8_t> bytes = {64, -65, 3};
  multiply(DataType::int8, bytes.data(), bytes.data(), bytes.size(), 2);
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{-128, 126, 6}));
}

}  // namespace
}  // namespace ccl_tests
