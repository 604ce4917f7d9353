// The data types and reduction operations of the suite, and the one place that maps a DataType to a
// C++ type.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace ccl_tests {

// In the order of nccl-tests, which `-d all` follows.
enum class DataType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  half,
  float32,
  float64,
  bfloat16,
  f8e4m3,
  f8e5m2,
};

// In the order of nccl-tests, which `-o all` follows, then those that it lacks. mulsum: every
// rank's input is multiplied by that rank's scalar (mulsum_scalar) and the products are summed.
// band, bor and bxor work on the bits of integers.
enum class ReduceOp : std::uint8_t { sum, prod, max, min, avg, mulsum, band, bor, bxor };

std::span<const DataType> all_types();
std::span<const ReduceOp> all_ops();              // nccl-tests', which are defined on every type
std::span<const ReduceOp> every_op();             // the bitwise ones too
std::span<const ReduceOp> ops_of(DataType type);  // those that are defined on `type`
std::string_view name(DataType type);             // nccl-tests' names: "float", "f8e4m3", ...
std::string_view name(ReduceOp op);
std::optional<DataType> parse_type(std::string_view text);
std::optional<ReduceOp> parse_op(std::string_view text);

// nccl-tests' scalar of mulsum: 1 on even ranks, 2 on odd ones.
constexpr int mulsum_scalar(int rank) { return rank % 2 == 0 ? 1 : 2; }

// Floating-point formats without a C++ type of their own, as bits. Conversions round to nearest
// even; f8e4m3 has no infinity (OCP "fn": values beyond 448 become NaN), the others overflow to
// infinity.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};

// The bits of a floating-point type. significand counts the hidden bit.
struct FloatFormat {
  int significand;   // p: every integer up to 2^p is exact
  int min_exponent;  // of the smallest normal value, 2^min_exponent
  int max_exponent;  // 2^max_exponent is finite
};

template <class T>
constexpr FloatFormat float_format() {
  if constexpr (std::is_same_v<T, Half>) return {11, -14, 15};
  if constexpr (std::is_same_v<T, BFloat16>) return {8, -126, 127};
  if constexpr (std::is_same_v<T, Float8E4M3>) return {4, -6, 8};
  if constexpr (std::is_same_v<T, Float8E5M2>) return {3, -14, 15};
  if constexpr (std::is_same_v<T, float>) return {24, -126, 127};
  if constexpr (std::is_same_v<T, double>) return {53, -1022, 1023};
  return {0, 0, 0};
}

template <class T>
constexpr bool is_float = float_format<T>().significand != 0;

// The nearest value of T, ties to even. T is a floating-point type of the suite.
template <class T>
T from_double(double value);
template <class T>
double to_double(T value);

template <>
Half from_double<Half>(double value);
template <>
BFloat16 from_double<BFloat16>(double value);
template <>
Float8E4M3 from_double<Float8E4M3>(double value);
template <>
Float8E5M2 from_double<Float8E5M2>(double value);
template <>
inline float from_double<float>(double value) {
  return static_cast<float>(value);
}
template <>
inline double from_double<double>(double value) {
  return value;
}
template <>
double to_double<Half>(Half value);
template <>
double to_double<BFloat16>(BFloat16 value);
template <>
double to_double<Float8E4M3>(Float8E4M3 value);
template <>
double to_double<Float8E5M2>(Float8E5M2 value);
template <>
inline double to_double<float>(float value) {
  return value;
}
template <>
inline double to_double<double>(double value) {
  return value;
}

// Calls f.template operator()<T>() with the C++ type of `type`: with_type(type, [&]<class T>() {
// ... }).
template <class F>
constexpr decltype(auto) with_type(DataType type, F&& f) {
  switch (type) {
    case DataType::int8: return f.template operator()<std::int8_t>();
    case DataType::uint8: return f.template operator()<std::uint8_t>();
    case DataType::int32: return f.template operator()<std::int32_t>();
    case DataType::uint32: return f.template operator()<std::uint32_t>();
    case DataType::int64: return f.template operator()<std::int64_t>();
    case DataType::uint64: return f.template operator()<std::uint64_t>();
    case DataType::half: return f.template operator()<Half>();
    case DataType::float32: return f.template operator()<float>();
    case DataType::float64: return f.template operator()<double>();
    case DataType::bfloat16: return f.template operator()<BFloat16>();
    case DataType::f8e4m3: return f.template operator()<Float8E4M3>();
    case DataType::f8e5m2: return f.template operator()<Float8E5M2>();
  }
  std::abort();
}

constexpr std::size_t size_of(DataType type) {
  return with_type(type, []<class T>() { return sizeof(T); });
}

}  // namespace ccl_tests
