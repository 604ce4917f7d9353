// The data types and reduction operations of the suite, and the one place that maps a DataType to a
// C++ type.
#pragma once

#include <algorithm>
#include <array>
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

// Returns the values of an enumeration of `n`.
template <class Enum, std::size_t n>
constexpr std::array<Enum, n> all_values() {
  std::array<Enum, n> values{};
  for (std::size_t k = 0; k < n; ++k) values[k] = static_cast<Enum>(k);
  return values;
}

// Returns the value of an enumeration whose names, in its order, are `names`.
template <class Enum, std::size_t n>
std::optional<Enum> value_named(const std::array<std::string_view, n>& names,
                                std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<Enum>(found - names.begin()));
}

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

// Convert between a value and the bits of a small format. To bits: the nearest, ties to even.
unsigned encode(const FloatFormat& format, double value);
double decode(const FloatFormat& format, unsigned bits);

// Returns the nearest value of T, ties to even. T is a floating-point type of the suite.
template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return {static_cast<decltype(T::bits)>(encode(float_format<T>(), value))};
}
template <class T>
double to_double(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return decode(float_format<T>(), value.bits);
}

// Calls `f` with the C++ type of `type`: with_type(type, [&]<class T>() { ... }).
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
constexpr bool is_floating_point(DataType type) {
  return with_type(type, []<class T>() { return is_float<T>; });
}

}  // namespace ccl_tests
