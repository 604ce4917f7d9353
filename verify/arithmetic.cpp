#include "verify/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ccl_tests::verify {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int significand = 53;

// value, moved by one place if `rest` would round it away from what is exact: an odd last place
// tells a later rounding that something lies beyond it (Boldo and Melquiond, Emulation of FMA and
// correctly rounded sums: proved algorithms using rounding to odd, 2008).
double to_odd(double value, double rest) {
  if (rest == 0 || (std::bit_cast<std::uint64_t>(value) & 1U) != 0) return value;
  return std::nextafter(value, rest > 0 ? infinity : -infinity);
}

double directed(Rounding rounding, double value, double rest) {
  const bool up = rounding == Rounding::upward || (rounding == Rounding::toward_zero && value < 0);
  if (rest == 0 || (rest > 0) != up) return value;
  return std::nextafter(value, up ? infinity : -infinity);
}

// What a + b leaves out of its rounded result (Knuth's TwoSum).
double rest_of_sum(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}

}  // namespace

std::string processor_arithmetic() {
  // By what it does: a register's name depends on the processor. volatile: computed now.
  constexpr double place = std::numeric_limits<double>::epsilon();
  constexpr double smallest = std::numeric_limits<double>::min();
  const volatile double one = 1, part = place / 4, most = 3 * place / 4;
  const volatile double normal = smallest, half = 0.5, subnormal = smallest / 2, two = 2;
  const volatile double above = one + part, up = one + most, down = -one - most;
  const volatile double result = normal * half, scaled = subnormal * two;
  std::string text;
  if (above != 1)
    text = "rounds up";
  else if (up == 1)
    text = down == -1 ? "rounds toward zero" : "rounds down";
  if (result == 0 || scaled == 0)
    text += std::string(text.empty() ? "" : "; ") + "flushes subnormal numbers";
  return text.empty() ? std::string(standard_arithmetic) : text;
}

double power_of_two(int exponent) {
  if (exponent < std::numeric_limits<double>::min_exponent - 1) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

Arithmetic::Arithmetic(FloatFormat of)
    : format(of), has_infinity(of.max_exponent <= 1 - of.min_exponent) {
  // All bits of the largest significand, but the last one where all ones are NaN.
  const double last = power_of_two((has_infinity ? 1 : 2) - of.significand);
  largest = (2 - last) * power_of_two(of.max_exponent);
  smallest = power_of_two(of.min_exponent - of.significand + 1);
}

bool Arithmetic::is_subnormal(double value) const {
  return value != 0 && std::fabs(value) < power_of_two(format.min_exponent);
}

double Arithmetic::rounded(double value, double rest) const {
  double result = value;
  const bool exact_type = format.significand == significand;
  if (std::isfinite(value) && exact_type && rounding != Rounding::nearest) {
    result = directed(rounding, value, rest);
  } else if (std::isfinite(value) && value != 0 && !exact_type) {
    const double odd = to_odd(value, rest);
    const int exponent = std::max(std::ilogb(odd), format.min_exponent);
    const double unit = power_of_two(exponent - format.significand + 1);
    const double units = odd / unit;  // exact
    double whole = std::nearbyint(units);
    if (rounding != Rounding::nearest) whole = directed(rounding, std::trunc(units), 0);
    if (rounding == Rounding::upward) whole = std::ceil(units);
    if (rounding == Rounding::downward) whole = std::floor(units);
    result = std::copysign(whole * unit, odd);
  }
  if (flushes && is_subnormal(result)) result = std::copysign(0.0, result);
  if (std::isnan(result) || std::fabs(result) <= largest) return result;
  const bool stays = rounding == Rounding::toward_zero ||
                     (rounding == Rounding::upward && result < 0) ||
                     (rounding == Rounding::downward && result > 0);
  if (saturates || (stays && std::isfinite(value))) return std::copysign(largest, result);
  return has_infinity ? std::copysign(infinity, result) : std::nan("");
}

double Arithmetic::add(double a, double b) const {
  a = operand(a);
  b = operand(b);
  const double sum = a + b;
  return rounded(sum, std::isfinite(sum) ? rest_of_sum(a, b, sum) : 0);
}

double Arithmetic::multiply(double a, double b) const {
  a = operand(a);
  b = operand(b);
  const double product = a * b;
  return rounded(product, std::isfinite(product) ? std::fma(a, b, -product) : 0);
}

double Arithmetic::multiply_add(double a, double factor, double b) const {
  a = operand(a);
  b = operand(b);
  if (format.significand == significand) return rounded(std::fma(a, factor, b), 0);
  const double product = a * factor;  // exact: neither has more than 24 bits
  const double sum = product + b;
  return rounded(sum, std::isfinite(sum) ? rest_of_sum(product, b, sum) : 0);
}

double Arithmetic::divide(double a, double divisor) const {
  a = operand(a);
  const double quotient = a / divisor;
  return rounded(quotient, std::isfinite(quotient) ? -std::fma(quotient, divisor, -a) : 0);
}

}  // namespace ccl_tests::verify
