// Arithmetic of every floating-point type on values that are held in double: rounded to the type
// after each step, in the ways in which libraries round.
#pragma once

#include <cfenv>
#include <string>
#include <string_view>

#include "src/core/types.hpp"

namespace ccl_tests::verify {

// While it lives, this thread rounds to nearest and keeps subnormal numbers, whatever a library has
// set: what is right must not depend on the library that is judged.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() { std::fesetenv(&before_); }
  StandardArithmetic(const StandardArithmetic&) = delete;
  StandardArithmetic& operator=(const StandardArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

inline constexpr std::string_view standard_arithmetic = "IEEE 754";
// Returns what this thread's processor does with results and subnormal numbers now: standard_arithmetic, or
// "rounds toward zero; flushes subnormal numbers".
std::string processor_arithmetic();

enum class Rounding { nearest, toward_zero, upward, downward };

// How one step of a computation ends. Operands and results are values of the format, held in
// double; every result is rounded once, from the exact one. Call it under StandardArithmetic.
struct Arithmetic {
  explicit Arithmetic(FloatFormat of);

  double add(double a, double b) const;
  double multiply(double a, double b) const;
  double multiply_add(double a, double factor, double b) const;  // rounded once: fused
  double divide(double a, double divisor) const;
  // Rounds any value of a double.
  double narrowed(double value) const { return rounded(value, 0); }

  bool is_subnormal(double value) const;

  FloatFormat format;
  double largest;     // finite value
  double smallest;    // subnormal value above 0
  bool has_infinity;  // if not, what is too large becomes NaN
  Rounding rounding = Rounding::nearest;
  bool flushes = false;    // subnormal operands and results are 0
  bool saturates = false;  // what is too large becomes the largest finite value

 private:
  // Rounds value + rest, of which `rest` is below the last place of `value`.
  double rounded(double value, double rest) const;
  double operand(double value) const { return flushes && is_subnormal(value) ? 0 : value; }
};

// Returns 2^exponent, where double has it.
double power_of_two(int exponent);

}  // namespace ccl_tests::verify
