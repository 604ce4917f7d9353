// What is right in one element of a reduction whose arithmetic rounds: wide and special data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/arithmetic.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {

// What a wrong element looks like. Several may fit; the first ones say most.
enum class WrongKind {
  nan_lost,
  nan_made,
  flushed,
  saturated,
  toward_zero,
  upward,
  downward,
  integer_order,
  stale,
  narrower,
  one_place,
  other,
};
inline constexpr std::size_t wrong_kinds = 12;
std::string words(WrongKind kind);  // "subnormal numbers replaced by 0: flush to zero"

// What standards leave open, and is reported: how often each way was seen.
struct Observations {
  std::uint64_t nan_wins = 0, nan_ignored = 0;             // min, max
  std::uint64_t zero_above = 0, zero_below = 0;            // min, max of 0 and -0: 0, -0
  std::uint64_t overflow_nan = 0, overflow_saturates = 0;  // 8-bit types
  void add(const Observations& other);
};
// Returns "a NaN wins; overflow saturates"; empty if nothing was seen.
std::string words(const Observations& seen);

// How the arithmetic ends its steps; the default is what IEEE 754 demands.
struct Way {
  Rounding rounding = Rounding::nearest;
  bool flushes = false, saturates = false;
};

// One element of all ranks' inputs. Call it under StandardArithmetic.
//
// Up to 4 ranks: right are the results of all trees over the ranks, rounded after each step to the
// type, or to float or double and to the type at the end. An average is divided at the end, or each
// rank's value is, or multiplied by the rounded 1/n; products with a rank's factor may be fused with
// the addition. More ranks: what lies within the sum of the rounding errors, which is
// ((1 + u)^(n - 1) - 1) times the sum of magnitudes, u = 2^-p (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., section 4.2). min and max: one value, without NaN.
class RightResults {
 public:
  // values: of the ranks, as bits of the type.
  RightResults(DataType type, ReduceOp op, const std::vector<std::uint64_t>& values);
  // without: a rank that is left out; -1: none. inputs: not of exact data.
  RightResults(const Inputs& inputs, std::size_t j, int without = -1);

  // False: there is a bound only.
  static bool all_orders_known(int ranks);

  // One right result, as bits of the type; of another way of rounding, one of its results.
  std::uint64_t in_rank_order(Way way = {}) const;

  // What min and max give that compare bits as signed integers.
  std::uint64_t in_integer_order() const;

  double value(std::uint64_t bits) const;
  std::uint64_t bits(double value) const;

  // Is `found`, bits of the type, right? Adds what is reported.
  bool is_right(std::uint64_t found, Observations& seen) const;

  // Of a wrong one: the kinds that fit, bit k for WrongKind k.
  unsigned kinds(std::uint64_t found) const;

  // The right result that is nearest to `found`, as bits; nullopt: there is a bound only.
  std::optional<std::uint64_t> nearest(std::uint64_t found) const;

 private:
  void add(int rank, std::uint64_t bits);
  Arithmetic arithmetic(FloatFormat format, Way way) const;
  std::vector<double> results(Way way) const;
  std::vector<double> right() const;
  void add_averages(const Arithmetic& step, const Arithmetic& type, std::vector<double>& all) const;
  bool is_right_extreme(double found, Observations& seen) const;
  bool is_within_bound(double found) const;
  bool saturation_is_open() const { return size_of(type_) == 1; }
  bool any_nan() const;

  DataType type_;
  ReduceOp op_;
  FloatFormat format_;
  std::vector<double> values_;       // of the ranks
  std::vector<std::uint64_t> bits_;  // the same
  std::vector<double> factors_;      // mulsum's; else 1
};

}  // namespace ccl_tests::verify
