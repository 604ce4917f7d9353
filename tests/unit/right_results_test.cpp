// Wide and special data: what is right, what is wrong, and what a wrong element is called. Each
// wrong library is a fold of ours with one fault.
#include "verify/right_results.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "tests/unit/verify_world.hpp"
#include "verify/order_sensitive.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

using enum ReduceOp;

constexpr std::array float_types = {DataType::half,     DataType::float32, DataType::float64,
                                    DataType::bfloat16, DataType::f8e4m3,  DataType::f8e5m2};

double value_of(DataType type, std::uint64_t bits) {
  return with_type(type, [&]<class T>() {
    if constexpr (is_float<T>) return to_double(std::bit_cast<T>(static_cast<BitsOf<T>>(bits)));
    return 0.0;
  });
}
std::uint64_t bits_of(DataType type, double value) {
  return with_type(type, [&]<class T>() -> std::uint64_t {
    if constexpr (is_float<T>) return std::bit_cast<BitsOf<T>>(from_double<T>(value));
    return 0;
  });
}
Arithmetic arithmetic_of(DataType type) {
  return Arithmetic(with_type(type, []<class T>() { return float_format<T>(); }));
}

struct Said {
  bool right = false;
  Observations seen;
  unsigned kinds = 0;
  bool is(WrongKind kind) const { return (kinds >> static_cast<unsigned>(kind) & 1U) != 0; }
};
Said say(DataType type, ReduceOp op, const std::vector<double>& values, double found) {
  std::vector<std::uint64_t> bits;
  for (const double v : values) bits.push_back(bits_of(type, v));
  const RightResults results(type, op, bits);
  Said said;
  said.right = results.is_right(bits_of(type, found), said.seen);
  if (!said.right) said.kinds = results.kinds(bits_of(type, found));
  return said;
}

TEST(RightResults, TwoRanksHaveOneSumRoundedToEven) {
  EXPECT_TRUE(say(DataType::half, sum, {2048, 1}, 2048).right);
  EXPECT_FALSE(say(DataType::half, sum, {2048, 1}, 2050).right);
  EXPECT_TRUE(say(DataType::half, sum, {2050, 1}, 2052).right);
  EXPECT_FALSE(say(DataType::half, sum, {2050, 1}, 2050).right);
  EXPECT_TRUE(say(DataType::float32, sum, {0x1p24, 1}, 0x1p24).right);
  EXPECT_FALSE(say(DataType::float32, sum, {0x1p24, 3}, 0x1p24 + 2).right);
  EXPECT_TRUE(say(DataType::float64, sum, {0x1p53, 3}, 0x1p53 + 4).right);
  EXPECT_FALSE(say(DataType::float64, sum, {0x1p53, 3}, 0x1p53 + 2).right);
}

TEST(RightResults, GloosSkippedAssignmentIsAnInputThatWasNotReduced) {
  for (const auto& [a, b] : {std::pair{-3174., 63136.}, {3838., 23680.}, {53536., -22160.}}) {
    const Said said = say(DataType::half, sum, {a, b}, a);
    EXPECT_FALSE(said.right) << a;
    EXPECT_TRUE(said.is(WrongKind::stale)) << a;
  }
}

TEST(RightResults, ThreeRanksHaveTheResultsOfEveryOrderAndPrecision) {
  EXPECT_TRUE(say(DataType::half, sum, {2048, 1, 1}, 2048).right);
  EXPECT_TRUE(say(DataType::half, sum, {2048, 1, 1}, 2050).right);
  EXPECT_FALSE(say(DataType::half, sum, {2048, 1, 1}, 2052).right);
  // In float the last addition is exact, and the sum is rounded once.
  EXPECT_TRUE(say(DataType::half, sum, {2048, 1, 0.5}, 2050).right);
  // Overflow on the way.
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(say(DataType::half, sum, {65504, 65504, -65504}, inf).right);
  EXPECT_TRUE(say(DataType::half, sum, {65504, 65504, -65504}, 65504).right);
  EXPECT_FALSE(say(DataType::half, sum, {65504, 65504, -65504}, 0).right);
}

TEST(RightResults, AveragesAreDividedBeforeOrAfter) {
  EXPECT_TRUE(say(DataType::half, avg, {65504, 65504}, 65504).right);
  EXPECT_TRUE(
      say(DataType::half, avg, {65504, 65504}, std::numeric_limits<double>::infinity()).right);
  const double third = arithmetic_of(DataType::float32).divide(1, 3);
  EXPECT_TRUE(say(DataType::float32, avg, {1, 0, 0}, third).right);
  EXPECT_FALSE(say(DataType::float32, avg, {1, 0, 0}, 0.33333).right);
}

TEST(RightResults, NamesWhatIsWrong) {
  EXPECT_TRUE(say(DataType::half, sum, {0x1p-24, 0x1p-24}, 0).is(WrongKind::flushed));
  EXPECT_TRUE(say(DataType::half, sum, {65504, 65504}, 65504).is(WrongKind::saturated));
  EXPECT_TRUE(say(DataType::float32, sum, {0x1p24, 3}, 0x1p24 + 2).is(WrongKind::toward_zero));
  EXPECT_TRUE(say(DataType::float32, sum, {-0x1p24, -3}, -0x1p24 - 2).is(WrongKind::toward_zero));
  EXPECT_TRUE(say(DataType::float32, sum, {0x1p24, 1}, 0x1p24 + 2).is(WrongKind::upward));
  EXPECT_TRUE(say(DataType::float32, max, {-1, -2}, -2).is(WrongKind::integer_order));
  EXPECT_TRUE(say(DataType::float64, sum, {1, 0x1p-30}, 1).is(WrongKind::narrower));
  EXPECT_TRUE(say(DataType::float64, sum, {1, 2}, std::nextafter(3, 4)).is(WrongKind::one_place));
  EXPECT_TRUE(say(DataType::float64, sum, {1, 2}, 7).is(WrongKind::other));
  EXPECT_FALSE(words(WrongKind::other).empty());
}

TEST(RightResults, SaysWhatIsOpenAndRefusesWhatNoReadingAllows) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(say(DataType::half, max, {1, nan}, 1).seen.nan_ignored, 1U);
  EXPECT_EQ(say(DataType::half, max, {1, nan}, nan).seen.nan_wins, 1U);
  EXPECT_FALSE(say(DataType::half, max, {1, nan}, 3).right);
  EXPECT_EQ(say(DataType::half, max, {-0., 0.}, -0.).seen.zero_below, 1U);
  EXPECT_EQ(say(DataType::half, max, {-0., 0.}, 0.).seen.zero_above, 1U);
  EXPECT_TRUE(say(DataType::f8e4m3, sum, {448, 448}, nan).right);
  EXPECT_EQ(say(DataType::f8e4m3, sum, {448, 448}, 448).seen.overflow_saturates, 1U);
  for (const std::size_t more : {0U, 1U, 4U}) {  // 2, 3, 6 ranks
    std::vector<double> values = {1, nan}, infinities = {inf, -inf}, one = {inf, 1};
    for (std::size_t k = 0; k < more; ++k)
      for (auto* const all : {&values, &infinities, &one}) all->push_back(1);
    EXPECT_TRUE(say(DataType::float32, sum, values, nan).right);
    EXPECT_FALSE(say(DataType::float32, sum, values, 1).right);
    EXPECT_FALSE(say(DataType::float32, sum, values, inf).right);
    EXPECT_FALSE(say(DataType::float32, prod, values, 1).right);
    EXPECT_TRUE(say(DataType::float32, sum, infinities, nan).right);
    EXPECT_FALSE(say(DataType::float32, sum, infinities, 0).right);
    EXPECT_TRUE(say(DataType::float32, sum, one, inf).right);
    EXPECT_FALSE(say(DataType::float32, sum, one, 1).right);
  }
  EXPECT_EQ(words(Observations{.nan_wins = 1, .overflow_saturates = 2}),
            "a NaN wins; overflow saturates");
}

// The wide data of all ranks, reduced by `step` in the order that `order` makes.
using Step = std::function<double(double, double)>;
double folded(const std::vector<double>& values, const Step& step, int order) {
  std::vector<double> left = values;
  if (order == 1) std::reverse(left.begin(), left.end());
  while (left.size() > 1) {
    const std::size_t at = order == 2 ? left.size() - 2 : 0;  // from the back: another tree
    const double together = step(left[at], left[at + 1]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    left[at] = together;
  }
  return left.front();
}

struct Tally {
  std::uint64_t wrong = 0;
  unsigned common = ~0U;
};
// `wrong`: changes a right arithmetic into the library's.
Tally tally(DataType type, ReduceOp op, int ranks, int order,
            const std::function<void(Arithmetic&)>& change = {}) {
  const Inputs inputs(type, op, ranks, 7, true, 0, {DataKind::wide, size_of(type) << 12});
  Arithmetic step = arithmetic_of(type);
  if (change) change(step);
  const StandardArithmetic standard;
  Tally found;
  for (std::size_t j = 0; j < inputs.period(); ++j) {
    std::vector<double> values;
    for (int rank = 0; rank < ranks; ++rank) values.push_back(value_of(type, inputs.bits(rank, j)));
    const double result = folded(
        values,
        [&](double a, double b) {
          if (op == prod) return step.multiply(a, b);
          if (op == min) return std::min(a, b);
          if (op == max) return std::max(a, b);
          return step.add(a, b);
        },
        order);
    const std::uint64_t bits = bits_of(type, result);
    const RightResults right(inputs, j);
    Observations seen;
    if (right.is_right(bits, seen)) continue;
    ++found.wrong;
    found.common &= right.kinds(bits);
  }
  return found;
}

TEST(WideData, NoFalseAlarmInAnyOrder) {
  for (const DataType type : float_types)
    for (const ReduceOp op : {sum, prod, min, max})
      for (const int ranks : {1, 2, 3, 4, 5, 9})
        for (const int order : {0, 1, 2})
          EXPECT_EQ(tally(type, op, ranks, order).wrong, 0U)
              << name(type) << ' ' << name(op) << ' ' << ranks << ' ' << order;
}

TEST(WideData, NoFalseAlarmInWiderSteps) {
  for (const DataType type : {DataType::half, DataType::bfloat16, DataType::float32})
    for (const ReduceOp op : {sum, prod})
      for (const int ranks : {2, 3, 4, 6})
        EXPECT_EQ(
            tally(type, op, ranks, 0, [](Arithmetic& a) { a = Arithmetic(float_format<double>()); })
                .wrong,
            0U)
            << name(type) << ' ' << name(op) << ' ' << ranks;
}

TEST(WideData, ArithmeticThatIsWrongIsFoundAndNamed) {
  struct Case {
    WrongKind kind;
    std::function<void(Arithmetic&)> change;
  };
  const std::vector<Case> cases = {
      {WrongKind::toward_zero, [](Arithmetic& a) { a.rounding = Rounding::toward_zero; }},
      {WrongKind::upward, [](Arithmetic& a) { a.rounding = Rounding::upward; }},
      {WrongKind::flushed, [](Arithmetic& a) { a.flushes = true; }},
      {WrongKind::saturated, [](Arithmetic& a) { a.saturates = true; }},
  };
  for (const DataType type : float_types)
    for (const ReduceOp op : {sum, prod})
      for (const int ranks : {2, 3, 4})
        for (const Case& c : cases) {
          if (c.kind == WrongKind::saturated && size_of(type) == 1) continue;  // reported
          const Tally found = tally(type, op, ranks, 0, c.change);
          EXPECT_GT(found.wrong, 0U) << name(type) << name(op) << ranks << words(c.kind);
          EXPECT_NE(found.common >> static_cast<unsigned>(c.kind) & 1U, 0U)
              << name(type) << ' ' << name(op) << ' ' << ranks << ' ' << words(c.kind);
        }
}

TEST(WideData, CoversTheRangeOfTheType) {
  for (const DataType type : float_types) {
    const Arithmetic arithmetic = arithmetic_of(type);
    for (const ReduceOp op : {sum, prod, avg}) {
      const Inputs inputs(type, op, 3, 1, true, 0, {DataKind::wide, std::size_t{1} << 16});
      bool largest = false, subnormal = false, negative = false;
      for (std::size_t j = 0; j < inputs.period(); ++j)
        for (int rank = 0; rank < 3; ++rank) {
          const double v = value_of(type, inputs.bits(rank, j));
          ASSERT_TRUE(std::isfinite(v)) << name(type) << j;
          largest = largest || v == arithmetic.largest;
          subnormal = subnormal || arithmetic.is_subnormal(v);
          negative = negative || v < 0;
        }
      EXPECT_TRUE(largest && subnormal && negative) << name(type) << name(op);
    }
  }
}

TEST(WideData, WhatIsRightDoesNotDependOnTheThreadsRounding) {
  const Inputs inputs(DataType::half, sum, 3, 1, true, 0, {DataKind::wide, 1U << 16});
  const Pattern before(DataType::half, sum, 3, 1, true, 0, {DataKind::wide, 1U << 16});
  std::fesetround(FE_TOWARDZERO);
  const Pattern pattern(DataType::half, sum, 3, 1, true, 0, {DataKind::wide, 1U << 16});
  const std::string said = processor_arithmetic();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(said, "rounds toward zero");
  EXPECT_EQ(processor_arithmetic(), standard_arithmetic);
  EXPECT_FALSE(before.expected().first_difference(pattern.expected().at(0), inputs.period(), 0));
#ifdef __SSE__
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040U);  // flush to zero, denormals are zero
  const std::string flushes = processor_arithmetic();
  _mm_setcsr(mode);
  EXPECT_EQ(flushes, "flushes subnormal numbers");
#endif
}

// Verifiers of 5 ranks: a rank that has other bits within the bound, or NaN elsewhere, has another
// digest.
TEST(WideData, RanksThatDisagreeHaveOtherDigests) {
  for (const DataChoice data :
       {DataChoice{DataKind::wide, 1U << 16}, DataChoice{DataKind::special, 1U << 16}}) {
    const auto pattern =
        std::make_shared<const Pattern>(DataType::float64, max, 5, 1, true, 0, data);
    const Verifier first(pattern, 0), second(pattern, 1);
    constexpr std::size_t count = 4099;
    const ExpectedBlock block{.count = count};
    std::vector<double> result(count);
    pattern->expected().copy_to(reinterpret_cast<std::byte*>(result.data()), count,
                                pattern->phase(0, 3));
    const Mismatch a = first.compare(result.data(), {&block, 1}, 3);
    const Mismatch same = second.compare(result.data(), {&block, 1}, 3);
    EXPECT_EQ(a.wrong, 0U) << a.explanation;
    EXPECT_EQ(a.digest, same.digest);
    EXPECT_EQ(a.received, same.received);
    // The sign of a zero is open.
    const auto zero = std::find(result.begin(), result.end(), 0.0);
    ASSERT_NE(zero, result.end());
    *zero = -*zero;
    EXPECT_EQ(second.compare(result.data(), {&block, 1}, 3).digest, a.digest);
    const auto at =
        std::find_if(result.begin(), result.end(), [](double v) { return v == v && v != 0; });
    *at = data.kind == DataKind::wide ? -*at : std::nan("");
    EXPECT_NE(second.compare(result.data(), {&block, 1}, 3).digest, a.digest);
  }
}

// A block that is one rank's input is a copy, whose bits must be the input's.
TEST(SpecialData, AreCopiedBitForBit) {
  const auto pattern = std::make_shared<const Pattern>(DataType::float32, sum, 3, 1, true, 0,
                                                       DataChoice{DataKind::special, 1U << 14});
  const Verifier verifier(pattern, 1);
  constexpr std::size_t count = 1000;
  const ExpectedBlock block{.count = count, .source_rank = 1};
  std::vector<float> data(count);
  verifier.fill_input(data.data(), count, 0);
  EXPECT_EQ(verifier.compare(data.data(), {&block, 1}, 0).wrong, 0U);
  data[7] = 3.5F;
  EXPECT_EQ(verifier.compare(data.data(), {&block, 1}, 0).wrong, 1U);
}

TEST(SpecialData, AreRightInAnyOrder) {
  for (const DataType type : float_types)
    for (const ReduceOp op : {sum, prod, min, max, avg, mulsum})
      for (const int ranks : {1, 2, 3, 4, 7}) {
        const auto pattern = std::make_shared<const Pattern>(
            type, op, ranks, 1, true, 0, DataChoice{DataKind::special, size_of(type) << 12});
        const Verifier verifier(pattern, 0);
        const std::size_t count = pattern->inputs().period();
        const ExpectedBlock block{.count = count};
        std::vector<std::byte> result(count * size_of(type));
        pattern->expected().copy_to(result.data(), count, pattern->phase(0, 0));
        const Mismatch found = verifier.compare(result.data(), {&block, 1}, 0);
        EXPECT_EQ(found.wrong, 0U)
            << name(type) << ' ' << name(op) << ' ' << ranks << ": " << found.explanation;
        if (op == max && ranks > 1) {
          EXPECT_GT(found.seen.nan_wins, 0U);
          EXPECT_EQ(found.seen.nan_ignored, 0U);
        }
      }
}

}  // namespace
}  // namespace ccl_tests::verify
