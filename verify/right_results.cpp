#include "verify/right_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

constexpr int enumerated_ranks = 4;

bool contains(const std::vector<double>& values, double value) {
  return std::any_of(values.begin(), values.end(), [&](double other) {
    return other == value || (std::isnan(other) && std::isnan(value));
  });
}

void insert(std::vector<double>& values, double value) {
  if (!contains(values, value)) values.push_back(value);
}

// The results of all trees over values[i] * factors[i], by addition or (multiplies) by
// multiplication. O(3^n).
std::vector<double> trees(const Arithmetic& step, bool multiplies,
                          const std::vector<double>& values, const std::vector<double>& factors) {
  const std::size_t all = (std::size_t{1} << values.size()) - 1;
  std::vector<std::vector<double>> of(all + 1);  // by the set of ranks, as bits
  for (std::size_t r = 0; r < values.size(); ++r)
    of[std::size_t{1} << r] = {factors[r] == 1 ? step.narrowed(values[r])
                                               : step.multiply(values[r], factors[r])};
  // Adds a rank's product to `other` without rounding the product.
  const auto fuse = [&](std::size_t rank, std::size_t other, std::vector<double>& out) {
    const auto r = static_cast<std::size_t>(std::countr_zero(rank));
    if (multiplies || !std::has_single_bit(rank) || factors[r] == 1) return;
    for (const double b : of[other]) insert(out, step.multiply_add(values[r], factors[r], b));
  };
  for (std::size_t set = 1; set <= all; ++set) {
    for (std::size_t left = (set - 1) & set; left > (set ^ left); left = (left - 1) & set) {
      const std::size_t right = set ^ left;
      for (const double a : of[left])
        for (const double b : of[right])
          insert(of[set], multiplies ? step.multiply(a, b) : step.add(a, b));
      fuse(left, right, of[set]);
      fuse(right, left, of[set]);
    }
  }
  return of[all];
}

}  // namespace

std::string words(WrongKind kind) {
  switch (kind) {
    case WrongKind::nan_lost: return "numbers where only NaN is right";
    case WrongKind::nan_made: return "NaN where only numbers are right";
    case WrongKind::flushed: return "subnormal numbers replaced by 0: flush to zero";
    case WrongKind::saturated: return "the largest number instead of infinity: saturation";
    case WrongKind::toward_zero: return "rounded toward zero";
    case WrongKind::upward: return "rounded up";
    case WrongKind::downward: return "rounded down";
    case WrongKind::integer_order: return "compared as integers, which negative numbers are not";
    case WrongKind::stale: return "one rank's input, not reduced";
    case WrongKind::narrower: return "rounded to a narrower type";
    case WrongKind::one_place: return "one unit in the last place away";
    case WrongKind::other: break;
  }
  return "like no result that any order or precision gives";
}

void Observations::add(const Observations& other) {
  nan_wins += other.nan_wins;
  nan_ignored += other.nan_ignored;
  zero_above += other.zero_above;
  zero_below += other.zero_below;
  overflow_nan += other.overflow_nan;
  overflow_saturates += other.overflow_saturates;
}

std::string words(const Observations& seen) {
  std::vector<std::string> all;
  const auto say = [&](std::uint64_t first, std::uint64_t second, const char* what,
                       const char* if_first, const char* if_second, const char* if_both) {
    if (first + second == 0) return;
    all.push_back(std::string(what) + (second == 0 ? if_first : first == 0 ? if_second : if_both));
  };
  say(seen.nan_wins, seen.nan_ignored, "a NaN ", "wins", "is ignored",
      "wins or is ignored, by the rank that has it");
  say(seen.zero_above, seen.zero_below, "of 0 and -0 the result is ", "0", "-0",
      "either, by the rank that has it");
  say(seen.overflow_nan, seen.overflow_saturates, "overflow ", "leaves the numbers", "saturates",
      "leaves the numbers or saturates");
  return fmt::format("{}", fmt::join(all, "; "));
}

RightResults::RightResults(const Inputs& inputs, std::size_t j, int without)
    : type_(inputs.type()),
      op_(*inputs.op()),
      format_(with_type(type_, []<class T>() { return float_format<T>(); })) {
  for (int rank = 0; rank < inputs.ranks(); ++rank)
    if (rank != without) add(rank, inputs.bits(rank, j));
}

RightResults::RightResults(DataType type, ReduceOp op, const std::vector<std::uint64_t>& values)
    : type_(type), op_(op), format_(with_type(type, []<class T>() { return float_format<T>(); })) {
  for (const std::uint64_t bits : values) add(static_cast<int>(bits_.size()), bits);
}

void RightResults::add(int rank, std::uint64_t bits) {
  bits_.push_back(bits);
  values_.push_back(value(bits));
  factors_.push_back(op_ == ReduceOp::mulsum ? mulsum_scalar(rank) : 1);
}

bool RightResults::all_orders_known(int ranks) { return ranks <= enumerated_ranks; }

double RightResults::value(std::uint64_t bits) const {
  return with_type(type_, [&]<class T>() {
    if constexpr (is_float<T>) return to_double(std::bit_cast<T>(static_cast<BitsOf<T>>(bits)));
    return 0.0;
  });
}

std::uint64_t RightResults::bits(double value) const {
  return with_type(type_, [&]<class T>() -> std::uint64_t {
    if constexpr (is_float<T>) return std::bit_cast<BitsOf<T>>(from_double<T>(value));
    return 0;
  });
}

bool RightResults::any_nan() const {
  return std::any_of(values_.begin(), values_.end(), [](double v) { return std::isnan(v); });
}

Arithmetic RightResults::arithmetic(FloatFormat format, Way way) const {
  Arithmetic result(format);
  result.rounding = way.rounding;
  result.flushes = way.flushes;
  result.saturates = way.saturates;
  return result;
}

std::uint64_t RightResults::in_rank_order(Way way) const {
  const Arithmetic type = arithmetic(format_, way);
  double result = factors_[0] == 1 ? values_[0] : type.multiply(values_[0], factors_[0]);
  for (std::size_t r = 1; r < values_.size(); ++r) {
    const double next = factors_[r] == 1 ? values_[r] : type.multiply(values_[r], factors_[r]);
    if (op_ == ReduceOp::prod)
      result = type.multiply(result, next);
    else if (op_ != ReduceOp::min && op_ != ReduceOp::max)
      result = type.add(result, next);
    else if (!std::isnan(result) &&
             (std::isnan(next) || (op_ == ReduceOp::min ? next < result : next > result)))
      result = next;
  }
  if (op_ == ReduceOp::avg) result = type.divide(result, static_cast<double>(values_.size()));
  return bits(type.narrowed(result));
}

std::uint64_t RightResults::in_integer_order() const {
  const unsigned unused = 64 - static_cast<unsigned>(8 * size_of(type_));
  const auto less = [&](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a << unused) < static_cast<std::int64_t>(b << unused);
  };
  return op_ == ReduceOp::min ? *std::min_element(bits_.begin(), bits_.end(), less)
                              : *std::max_element(bits_.begin(), bits_.end(), less);
}

void RightResults::add_averages(const Arithmetic& step, const Arithmetic& type,
                                std::vector<double>& all) const {
  const auto n = static_cast<double>(values_.size());
  const std::vector<double> ones(values_.size(), 1);
  for (const double sum : trees(step, false, values_, ones)) {
    insert(all, type.narrowed(step.divide(sum, n)));
    insert(all, type.narrowed(step.multiply(sum, step.divide(1, n))));
    const double narrow = type.narrowed(sum);
    insert(all, type.divide(narrow, n));
    insert(all, type.narrowed(step.multiply(narrow, step.divide(1, n))));
  }
  std::vector<double> parts;
  for (const double v : values_) parts.push_back(step.divide(v, n));
  for (const double sum : trees(step, false, parts, ones)) insert(all, type.narrowed(sum));
  for (const Arithmetic* const of : {&step, &type}) {
    const std::vector<double> factors(values_.size(), of->divide(1, n));
    for (const double sum : trees(step, false, values_, factors)) insert(all, type.narrowed(sum));
  }
}

std::vector<double> RightResults::results(Way way) const {
  const Arithmetic type = arithmetic(format_, way);
  std::vector<double> all;
  std::vector<FloatFormat> steps = {format_};
  for (const FloatFormat wider : {float_format<float>(), float_format<double>()})
    if (wider.significand > format_.significand) steps.push_back(wider);
  for (const FloatFormat& format : steps) {
    const Arithmetic step = arithmetic(format, way);
    if (op_ == ReduceOp::avg) {
      add_averages(step, type, all);
      continue;
    }
    for (const double result : trees(step, op_ == ReduceOp::prod, values_, factors_))
      insert(all, type.narrowed(result));
  }
  return all;
}

std::vector<double> RightResults::right() const {
  std::vector<double> all = results({});
  if (saturation_is_open())
    for (const double value : results({.saturates = true})) insert(all, value);
  return all;
}

bool RightResults::is_right_extreme(double found, Observations& seen) const {
  std::vector<double> numbers;
  for (const double v : values_)
    if (!std::isnan(v)) numbers.push_back(v);
  const auto extreme = [&] {
    return op_ == ReduceOp::min ? *std::min_element(numbers.begin(), numbers.end())
                                : *std::max_element(numbers.begin(), numbers.end());
  };
  if (numbers.size() < values_.size()) {
    // How NaN compares is open: it wins, it is ignored, or it hides what came before it.
    if (numbers.empty()) return std::isnan(found);
    ++(std::isnan(found) ? seen.nan_wins : seen.nan_ignored);
    return std::isnan(found) || contains(numbers, found);
  }
  if (found == 0 && extreme() == 0) {
    const auto negative = std::count_if(numbers.begin(), numbers.end(),
                                        [](double v) { return v == 0 && std::signbit(v); });
    const auto zeros = std::count(numbers.begin(), numbers.end(), 0.0);
    if (negative > 0 && negative < zeros)
      ++(std::signbit(found) ? seen.zero_below : seen.zero_above);
  }
  return found == extreme();
}

// Beyond the number of ranks whose trees are all tried.
bool RightResults::is_within_bound(double found) const {
  if (any_nan()) return std::isnan(found);
  const Arithmetic type(format_);
  const bool product = op_ == ReduceOp::prod;
  long double exact = product ? 1 : 0, magnitude = 0, most = 1, least = 1;
  for (std::size_t r = 0; r < values_.size(); ++r) {
    const long double term = static_cast<long double>(values_[r]) * factors_[r];
    exact = product ? exact * term : exact + term;
    if (!std::isfinite(term)) continue;
    magnitude += std::fabs(term);
    most *= std::max(1.0L, std::fabs(term));
    least *= std::min(1.0L, std::fabs(term));
  }
  const auto n = static_cast<double>(values_.size());
  const double steps = n - 1 + (op_ == ReduceOp::avg ? 2 : op_ == ReduceOp::mulsum ? 1 : 0);
  const double relative = std::expm1(steps * std::log1p(std::ldexp(1.0, -format_.significand)));
  const bool overflows = (product ? most : magnitude) * (1 + relative) > type.largest;
  const bool underflows = product && least < std::ldexp(1.0L, format_.min_exponent);
  if (std::isnan(exact)) return std::isnan(found);
  if (std::isinf(exact))
    return found == static_cast<double>(exact) || saturation_is_open() ||
           ((overflows || underflows) && std::isnan(found));
  if (underflows || (overflows && (product || saturation_is_open()))) return true;
  if (!std::isfinite(found)) return overflows;
  if (op_ == ReduceOp::avg) {
    exact /= n;
    magnitude /= n;
  }
  const long double bound = relative * (product ? std::fabs(exact) : magnitude) +
                            steps * type.smallest + std::ldexp(magnitude, -60);
  return std::fabs(found - exact) <= bound;
}

bool RightResults::is_right(std::uint64_t bits, Observations& seen) const {
  const double found = value(bits);
  if (op_ == ReduceOp::min || op_ == ReduceOp::max) return is_right_extreme(found, seen);
  const auto observe_overflow = [&](const std::vector<double>& strict) {
    if (!saturation_is_open() || any_nan()) return;
    if (std::fabs(found) == Arithmetic(format_).largest && !contains(strict, found))
      ++seen.overflow_saturates;
    else if (!std::isfinite(found))
      ++seen.overflow_nan;
  };
  if (!all_orders_known(static_cast<int>(values_.size()))) return is_within_bound(found);
  const std::vector<double> strict = results({});
  observe_overflow(strict);
  return contains(strict, found) ||
         (saturation_is_open() && contains(results({.saturates = true}), found));
}

unsigned RightResults::kinds(std::uint64_t bits) const {
  const double found = value(bits);
  unsigned kinds = 0;
  const auto mark = [&](WrongKind kind, bool fits) {
    if (fits) kinds |= 1U << static_cast<unsigned>(kind);
  };
  const bool input = std::find(bits_.begin(), bits_.end(), bits) != bits_.end();
  mark(WrongKind::stale, input);
  if (op_ == ReduceOp::min || op_ == ReduceOp::max) {
    mark(WrongKind::integer_order, bits == in_integer_order());
    mark(WrongKind::flushed, bits == in_rank_order({.flushes = true}));
    mark(WrongKind::nan_made, std::isnan(found) && !any_nan());
  } else if (all_orders_known(static_cast<int>(values_.size()))) {
    const std::vector<double> right = this->right();
    const bool only_nan = right.size() == 1 && std::isnan(right.front());
    mark(WrongKind::nan_lost, only_nan);
    mark(WrongKind::nan_made, std::isnan(found));
    mark(WrongKind::flushed, contains(results({.flushes = true}), found));
    mark(WrongKind::saturated, contains(results({.saturates = true}), found));
    for (const auto& [rounding, kind] : {std::pair{Rounding::toward_zero, WrongKind::toward_zero},
                                         std::pair{Rounding::upward, WrongKind::upward},
                                         std::pair{Rounding::downward, WrongKind::downward}})
      mark(kind, contains(results({.rounding = rounding}), found));
    for (const FloatFormat narrow :
         {float_format<float>(), float_format<Half>(), float_format<BFloat16>(),
          float_format<Float8E4M3>(), float_format<Float8E5M2>()}) {
      if (narrow.significand >= format_.significand) continue;
      const Arithmetic narrower(narrow);
      for (const double value : right) mark(WrongKind::narrower, narrower.narrowed(value) == found);
    }
  } else {
    mark(WrongKind::nan_lost, any_nan());
    mark(WrongKind::nan_made, std::isnan(found));
  }
  if (const auto near = nearest(bits); near && !std::isnan(found))
    mark(WrongKind::one_place, with_width(size_of(type_), [&]<class U>() {
           return ulp_distance(static_cast<U>(bits), static_cast<U>(*near)) == 1;
         }));
  mark(WrongKind::other, kinds == 0);
  return kinds;
}

std::optional<std::uint64_t> RightResults::nearest(std::uint64_t bits) const {
  const bool extreme = op_ == ReduceOp::min || op_ == ReduceOp::max;
  if (extreme) return in_rank_order();
  if (!all_orders_known(static_cast<int>(values_.size()))) return std::nullopt;
  const double found = value(bits);
  const std::vector<double> all = right();
  const auto distance = [&](double v) {
    const double apart = std::fabs(v - found);
    return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
  };
  const double best = *std::min_element(
      all.begin(), all.end(), [&](double a, double b) { return distance(a) < distance(b); });
  return this->bits(best);
}

}  // namespace ccl_tests::verify
