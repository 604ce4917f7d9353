// Every reduction is exact in any order, with rounding to the type after each step.
#include "verify/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "tests/unit/arithmetic.hpp"

namespace ccl_tests::verify {
namespace {

constexpr int rank_counts[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 65, 257, 1024, 4096};

template <class T>
void expect_plain(T value) {  // a number that arithmetic of any precision treats alike
  if constexpr (is_float<T>) {
    static const double least = std::ldexp(1.0, float_format<T>().min_exponent);
    const double x = to_double(value);
    const bool plain = x == 0 ? !std::signbit(x) : std::isfinite(x) && std::fabs(x) >= least;
    if (!plain) FAIL() << x;  // not an assertion, whose object costs more than the question
  }
}

// Folds values[first, last) over a random binary tree: every shape of a contiguous reduction.
template <class T>
T fold_tree(const std::vector<T>& values, std::size_t first, std::size_t last, ReduceOp op,
            std::mt19937_64& random) {
  if (last - first == 1) return values[first];
  const std::size_t middle = first + 1 + random() % (last - first - 1);
  const T result = combine(op, fold_tree(values, first, middle, op, random),
                           fold_tree(values, middle, last, op, random));
  expect_plain(result);
  return result;
}

template <class T>
T fold_chain(const std::vector<T>& values, ReduceOp op) {
  T result = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    result = combine(op, result, values[i]);
    expect_plain(result);
  }
  return result;
}

template <class T>
void check_element(const Inputs& inputs, std::size_t j, std::mt19937_64& random) {
  const ReduceOp op = *inputs.op();
  std::vector<T> values;
  for (int rank = 0; rank < inputs.ranks(); ++rank) {
    values.push_back(scaled(op, rank, from_bits<T>(inputs.bits(rank, j))));
    expect_plain(values.back());
  }
  const auto finish = [&](T folded) {
    if constexpr (!is_float<T>) {
      if (op == ReduceOp::avg) folded = static_cast<T>(folded / static_cast<T>(inputs.ranks()));
    }
    return bits_of(folded);
  };
  const std::uint64_t expected = inputs.reduced(j);
  ASSERT_EQ(finish(fold_chain(values, op)), expected) << "in rank order";
  for (int order = 0; order < 3; ++order) {
    std::shuffle(values.begin(), values.end(), random);
    ASSERT_EQ(finish(fold_chain(values, op)), expected) << "one after the other";
    ASSERT_EQ(finish(fold_tree(values, 0, values.size(), op, random)), expected) << "as a tree";
  }
  // All that are positive first: the largest partial sums there are.
  std::sort(values.begin(), values.end(), [](T a, T b) { return number(a) > number(b); });
  ASSERT_EQ(finish(fold_chain(values, op)), expected) << "descending";
}

// For libraries that leave overflow open: no sum or product of any subset leaves the type's range,
// and each rank shows in some element.
template <class T>
void check_range(DataType type, ReduceOp op, int ranks) {
  const Inputs inputs(type, op, ranks, 1, false);
  using Wide = long double;  // holds 64-bit integers
  constexpr Wide lowest = std::numeric_limits<T>::min();
  constexpr Wide highest = std::numeric_limits<T>::max();
  std::vector<char> shown(static_cast<std::size_t>(ranks), 0);
  const std::size_t elements = ranks <= 257 ? 400 : 100;  // of more ranks fewer: as many values
  for (std::size_t j = 0; j < elements; ++j) {
    Wide positive = 0, negative = 0, product = 1, largest_product = 1, total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Wide value = static_cast<Wide>(from_bits<T>(inputs.bits(rank, j))) *
                         (op == ReduceOp::mulsum ? mulsum_scalar(rank) : 1);
      (value < 0 ? negative : positive) += value;
      total += value;
      product *= value < 0 ? -value : value;
      largest_product = std::max(largest_product, product);
      if (op == ReduceOp::prod ? value != 1 : value != 0) shown[static_cast<std::size_t>(rank)] = 1;
    }
    ASSERT_LE(largest_product, op == ReduceOp::prod ? highest : largest_product);
    ASSERT_LE(positive, op == ReduceOp::prod ? positive : highest);
    ASSERT_GE(negative, op == ReduceOp::prod ? negative : lowest);
    if (op == ReduceOp::sum) {
      ASSERT_EQ(static_cast<Wide>(from_bits<T>(inputs.reduced(j))), total);
    }
  }
  if (ranks <= 257) {
    ASSERT_EQ(std::count(shown.begin(), shown.end(), 0), 0);
  }
}

TEST(Inputs, StayInRangeWhereIntegersMayNotWrap) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mulsum, ReduceOp::avg, ReduceOp::prod}) {
    for (const int ranks : rank_counts) {
      SCOPED_TRACE(testing::Message() << name(op) << " of " << ranks << " ranks");
      for (const DataType type : all_types()) {
        with_type(type, [&]<class T>() {
          if constexpr (!is_float<T>) check_range<T>(type, op, ranks);
        });
      }
      if (HasFatalFailure()) return;
    }
  }
}

class Exact : public testing::TestWithParam<DataType> {};

TEST_P(Exact, InAnyOrder) {
  const DataType type = GetParam();
  with_type(type, [&]<class T>() {
    std::mt19937_64 random(1);
    for (const ReduceOp op : ops_of(type)) {
      if (op == ReduceOp::avg && is_float<T>) continue;
      for (const int ranks : rank_counts) {
        // T cannot hold the divisor: the row says that it is not verified.
        if (op == ReduceOp::avg && !Inputs(type, op, ranks, 1).verifiable()) continue;
        const int elements = ranks <= 17 ? 150 : ranks <= 65 ? 40 : ranks <= 257 ? 10 : 3;
        for (const std::uint64_t seed : {1, 77}) {
          const Inputs inputs(type, op, ranks, seed);
          for (int k = 0; k < elements; ++k) {
            const std::size_t j = random() % inputs.period();
            check_element<T>(inputs, j, random);
            ASSERT_FALSE(testing::Test::HasFatalFailure())
                << name(op) << ", " << ranks << " ranks, seed " << seed << ", element " << j;
          }
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Inputs, Exact, testing::ValuesIn(all_types().begin(), all_types().end()),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(Inputs, MovedDataHasFullEntropy) {
  for (const DataType type : all_types()) {
    const Inputs inputs(type, std::nullopt, 3, 1);
    const std::size_t bits = 8 * size_of(type);
    std::vector<int> ones(bits);
    for (std::size_t j = 0; j < inputs.period(); ++j) {
      const std::uint64_t value = inputs.bits(0, j);
      EXPECT_EQ(bits == 64 ? 0 : value >> bits, 0U);
      for (std::size_t b = 0; b < bits; ++b) ones[b] += static_cast<int>((value >> b) & 1U);
    }
    for (const int n : ones) EXPECT_NEAR(n, 4093 / 2, 250) << name(type);  // 8 sigma
  }
}

TEST(Inputs, SeedsGiveDifferentValues) {
  for (const DataType type : all_types()) {
    for (const auto& op : {std::optional<ReduceOp>(), std::optional(ReduceOp::prod)}) {
      const Inputs one(type, op, 4, 1);
      const Inputs two(type, op, 4, 2);
      int different = 0;
      for (std::size_t j = 0; j < 200; ++j) different += one.bits(0, j) != two.bits(0, j) ? 1 : 0;
      EXPECT_GT(different, 60) << name(type);
    }
  }
}

TEST(Inputs, PeriodIsPrimeAndHoldsTwoTurnsOfAllRanks) {
  for (const int ranks : {1, 2046, 2047, 4096, 8190, 8191, 32000}) {
    const std::size_t period = Inputs(DataType::int8, std::nullopt, ranks, 1).period();
    EXPECT_GE(period, 2 * static_cast<std::size_t>(ranks));
    for (std::size_t d = 2; d * d <= period; ++d) EXPECT_NE(period % d, 0U) << period;
  }
}

// Expected averages are the quotient in the type, and results that cannot differ are not verified.
TEST(Inputs, AveragesThatSayNothingAreNotVerified) {
  const auto says_nothing = [](DataType type, int ranks) {
    return !Inputs(type, ReduceOp::avg, ranks, 1).verifiable();
  };
  EXPECT_FALSE(says_nothing(DataType::int8, 127));
  EXPECT_TRUE(says_nothing(DataType::int8, 128));
  EXPECT_FALSE(says_nothing(DataType::uint8, 255));
  EXPECT_TRUE(says_nothing(DataType::uint8, 256));
  EXPECT_FALSE(says_nothing(DataType::f8e4m3, 64));
  EXPECT_TRUE(says_nothing(DataType::f8e4m3, 65));
  EXPECT_FALSE(says_nothing(DataType::int32, 4096));
  EXPECT_FALSE(says_nothing(DataType::bfloat16, 4096));
}

}  // namespace
}  // namespace ccl_tests::verify
