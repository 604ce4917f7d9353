#include "src/core/types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ccl_tests {
namespace {

constexpr std::array types = {
    DataType::int8,    DataType::uint8,    DataType::int32,  DataType::uint32,
    DataType::int64,   DataType::uint64,   DataType::half,   DataType::float32,
    DataType::float64, DataType::bfloat16, DataType::f8e4m3, DataType::f8e5m2,
};
constexpr std::array ops = {
    ReduceOp::sum,    ReduceOp::prod, ReduceOp::max, ReduceOp::min,  ReduceOp::avg,
    ReduceOp::mulsum, ReduceOp::band, ReduceOp::bor, ReduceOp::bxor,
};
constexpr std::size_t bitwise_ops = 3;  // the last ones

template <class T>
std::optional<T> find_name(std::span<const T> values, std::string_view text) {
  const auto* const end = values.data() + values.size();
  const auto* const found = std::find_if(values.data(), end, [&](T v) { return name(v) == text; });
  return found == end ? std::nullopt : std::optional(*found);
}

// The layout of a small IEEE-like format: sign, exponent, `fraction` stored bits. `finite_top`: the
// all-ones exponent holds numbers too and only all-ones fraction is NaN (e4m3fn).
struct Small {
  int fraction;
  int bias;
  int exponent_bits;
  bool finite_top;
};
constexpr Small half_layout{10, 15, 5, false};
constexpr Small bfloat16_layout{7, 127, 8, false};
constexpr Small e4m3_layout{3, 7, 4, true};
constexpr Small e5m2_layout{2, 15, 5, false};

unsigned encode(const Small& s, double value) {
  const unsigned sign = std::signbit(value) ? 1U << (s.fraction + s.exponent_bits) : 0U;
  const unsigned ones = (1U << s.exponent_bits) - 1U;
  const unsigned infinity = ones << s.fraction;
  const unsigned nan =
      s.finite_top ? infinity | ((1U << s.fraction) - 1U) : infinity | (1U << (s.fraction - 1));
  if (std::isnan(value)) return sign | nan;
  const unsigned overflow = s.finite_top ? nan : infinity;
  if (std::isinf(value)) return sign | overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - s.bias);
  // In units of the last place of this binade; nearbyint rounds ties to even. A carry runs into the
  // exponent field.
  const auto units =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, s.fraction - exponent)));
  const std::uint64_t biased = static_cast<std::uint64_t>(exponent + s.bias - 1);
  const std::uint64_t bits = (biased << s.fraction) + units;
  const std::uint64_t limit = s.finite_top ? nan : infinity;
  return sign | static_cast<unsigned>(bits >= limit ? overflow : bits);
}

double decode(const Small& s, unsigned bits) {
  const unsigned ones = (1U << s.exponent_bits) - 1U;
  const bool negative = ((bits >> (s.fraction + s.exponent_bits)) & 1U) != 0;
  const unsigned exponent = (bits >> s.fraction) & ones;
  const unsigned fraction = bits & ((1U << s.fraction) - 1U);
  double magnitude = 0;
  if (exponent == ones && !s.finite_top) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == ones && fraction == (1U << s.fraction) - 1U) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - s.bias - s.fraction);
  } else {
    magnitude =
        std::ldexp(fraction + (1U << s.fraction), static_cast<int>(exponent) - s.bias - s.fraction);
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace

std::span<const DataType> all_types() { return types; }
std::span<const ReduceOp> all_ops() { return std::span(ops).first(ops.size() - bitwise_ops); }
std::span<const ReduceOp> every_op() { return ops; }
std::span<const ReduceOp> ops_of(DataType type) {
  return with_type(type, []<class T>() { return is_float<T>; }) ? all_ops() : every_op();
}

std::string_view name(DataType type) {
  switch (type) {
    case DataType::int8: return "int8";
    case DataType::uint8: return "uint8";
    case DataType::int32: return "int32";
    case DataType::uint32: return "uint32";
    case DataType::int64: return "int64";
    case DataType::uint64: return "uint64";
    case DataType::half: return "half";
    case DataType::float32: return "float";
    case DataType::float64: return "double";
    case DataType::bfloat16: return "bfloat16";
    case DataType::f8e4m3: return "f8e4m3";
    case DataType::f8e5m2: return "f8e5m2";
  }
  return "?";
}

std::string_view name(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::prod: return "prod";
    case ReduceOp::max: return "max";
    case ReduceOp::min: return "min";
    case ReduceOp::avg: return "avg";
    case ReduceOp::mulsum: return "mulsum";
    case ReduceOp::band: return "band";
    case ReduceOp::bor: return "bor";
    case ReduceOp::bxor: return "bxor";
  }
  return "?";
}

std::optional<DataType> parse_type(std::string_view text) { return find_name(all_types(), text); }
std::optional<ReduceOp> parse_op(std::string_view text) { return find_name(every_op(), text); }

template <>
Half from_double<Half>(double value) {
  return {static_cast<std::uint16_t>(encode(half_layout, value))};
}
template <>
BFloat16 from_double<BFloat16>(double value) {
  return {static_cast<std::uint16_t>(encode(bfloat16_layout, value))};
}
template <>
Float8E4M3 from_double<Float8E4M3>(double value) {
  return {static_cast<std::uint8_t>(encode(e4m3_layout, value))};
}
template <>
Float8E5M2 from_double<Float8E5M2>(double value) {
  return {static_cast<std::uint8_t>(encode(e5m2_layout, value))};
}
template <>
double to_double<Half>(Half value) {
  return decode(half_layout, value.bits);
}
template <>
double to_double<BFloat16>(BFloat16 value) {
  return decode(bfloat16_layout, value.bits);
}
template <>
double to_double<Float8E4M3>(Float8E4M3 value) {
  return decode(e4m3_layout, value.bits);
}
template <>
double to_double<Float8E5M2>(Float8E5M2 value) {
  return decode(e5m2_layout, value.bits);
}

}  // namespace ccl_tests
