#include "src/core/types.hpp"

#include <cmath>
#include <limits>

namespace ccl_tests {
namespace {

constexpr std::array<std::string_view, 12> type_names = {"int8",   "uint8",    "int32",  "uint32",
                                                         "int64",  "uint64",   "half",   "float",
                                                         "double", "bfloat16", "f8e4m3", "f8e5m2"};
constexpr std::array<std::string_view, 9> op_names = {"sum",    "prod", "max", "min", "avg",
                                                      "mulsum", "band", "bor", "bxor"};
constexpr auto types = all_values<DataType, type_names.size()>();
constexpr auto ops = all_values<ReduceOp, op_names.size()>();
constexpr std::size_t bitwise_ops = 3;  // the last ones

// The bits of a small IEEE-like format: sign, exponent, `fraction` stored bits. finite_top: the
// all-ones exponent holds numbers too and only all-ones fraction is NaN (e4m3fn).
struct Bits {
  explicit Bits(const FloatFormat& format)
      : fraction(format.significand - 1),
        bias(1 - format.min_exponent),
        exponent_ones(2 * static_cast<unsigned>(bias) + 1),
        sign((exponent_ones + 1) << fraction),
        finite_top(format.max_exponent > bias) {}
  int fraction, bias;
  unsigned exponent_ones, sign;
  bool finite_top;
};

}  // namespace

unsigned encode(const FloatFormat& format, double value) {
  const Bits s(format);
  const unsigned sign = std::signbit(value) ? s.sign : 0U;
  const unsigned infinity = s.exponent_ones << s.fraction;
  const unsigned nan =
      s.finite_top ? infinity | ((1U << s.fraction) - 1U) : infinity | (1U << (s.fraction - 1));
  if (std::isnan(value)) return sign | nan;
  const unsigned overflow = s.finite_top ? nan : infinity;
  if (std::isinf(value)) return sign | overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - s.bias);
  // In units of the last place of this binade, ties to even, in whatever way the processor rounds.
  // A carry runs into the exponent field.
  const double exact = std::ldexp(magnitude, s.fraction - exponent);
  auto units = static_cast<std::uint64_t>(exact);
  const double rest = exact - static_cast<double>(units);
  if (rest > 0.5 || (rest == 0.5 && units % 2 == 1)) ++units;
  const std::uint64_t biased = static_cast<std::uint64_t>(exponent + s.bias - 1);
  const std::uint64_t bits = (biased << s.fraction) + units;
  return sign | static_cast<unsigned>(bits >= overflow ? overflow : bits);
}

double decode(const FloatFormat& format, unsigned bits) {
  const Bits s(format);
  const unsigned exponent = (bits >> s.fraction) & s.exponent_ones;
  const unsigned fraction = bits & ((1U << s.fraction) - 1U);
  double magnitude = 0;
  if (exponent == s.exponent_ones && !s.finite_top) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == s.exponent_ones && fraction == (1U << s.fraction) - 1U) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - s.bias - s.fraction);
  } else {
    magnitude =
        std::ldexp(fraction + (1U << s.fraction), static_cast<int>(exponent) - s.bias - s.fraction);
  }
  return (bits & s.sign) != 0 ? -magnitude : magnitude;
}

std::span<const DataType> all_types() { return types; }
std::span<const ReduceOp> all_ops() { return std::span(ops).first(ops.size() - bitwise_ops); }
std::span<const ReduceOp> every_op() { return ops; }
std::span<const ReduceOp> ops_of(DataType type) {
  return is_floating_point(type) ? all_ops() : every_op();
}

std::string_view name(DataType type) { return type_names.at(static_cast<std::size_t>(type)); }
std::string_view name(ReduceOp op) { return op_names.at(static_cast<std::size_t>(op)); }

std::optional<DataType> parse_type(std::string_view text) {
  return value_named<DataType>(type_names, text);
}
std::optional<ReduceOp> parse_op(std::string_view text) {
  return value_named<ReduceOp>(op_names, text);
}

}  // namespace ccl_tests
