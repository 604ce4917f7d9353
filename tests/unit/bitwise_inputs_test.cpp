// band, bor and bxor: what a wrong reduction of their inputs looks like.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/arithmetic.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {
namespace {

constexpr ReduceOp bitwise[] = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor};
constexpr int rank_counts[] = {2, 3, 4, 5, 8, 17, 64};
constexpr std::size_t elements = 400;

// All bits of T, and each integer type's T.
template <class F>
void for_each_integer(F&& f) {
  for (const DataType type : all_types()) {
    with_type(type, [&]<class T>() {
      if constexpr (!is_float<T>) {
        SCOPED_TRACE(name(type));
        f.template operator()<T>(type);
      }
    });
  }
}

// What the inputs of `inputs` give when they are reduced by `op`.
template <class T>
T folded(const Inputs& inputs, ReduceOp op, std::size_t j) {
  T result = from_bits<T>(inputs.bits(0, j));
  for (int rank = 1; rank < inputs.ranks(); ++rank)
    result = combine(op, result, from_bits<T>(inputs.bits(rank, j)));
  return result;
}

// The three and min and max never agree in any element; sums and products seldom do.
TEST(BitwiseInputs, AnotherOperationsResultDiffers) {
  for_each_integer([]<class T>(DataType type) {
    for (const ReduceOp op : bitwise) {
      for (const int ranks : rank_counts) {
        const Inputs inputs(type, op, ranks, 1);
        std::map<ReduceOp, std::size_t> same;
        for (std::size_t j = 0; j < elements; ++j) {
          for (const ReduceOp other : ops_of(type)) {
            const bool equal = bits_of(folded<T>(inputs, other, j)) == inputs.reduced(j);
            same[other] += equal ? 1 : 0;
          }
        }
        for (const auto& [other, count] : same) {
          SCOPED_TRACE(testing::Message() << name(op) << " as " << name(other) << ", " << ranks);
          const bool never = op != ReduceOp::bxor && other != ReduceOp::sum &&
                             other != ReduceOp::prod && other != ReduceOp::avg &&
                             other != ReduceOp::mulsum;
          if (other == op) {
            EXPECT_EQ(count, elements);
          } else {
            EXPECT_LE(count, never ? 0 : elements / 4);
          }
        }
      }
    }
  });
}

TEST(BitwiseInputs, NoRanksInputIsTheResult) {
  for_each_integer([]<class T>(DataType type) {
    for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor}) {
      for (const int ranks : rank_counts) {
        const Inputs inputs(type, op, ranks, 1);
        for (std::size_t j = 0; j < elements; ++j) {
          for (int rank = 0; rank < ranks; ++rank)
            ASSERT_NE(inputs.bits(rank, j), inputs.reduced(j)) << name(op) << ", rank " << rank;
        }
      }
    }
  });
}

TEST(BitwiseInputs, EveryElementShowsTheLossOfTwoRanksAndOfAllForBxor) {
  for_each_integer([]<class T>(DataType type) {
    for (const ReduceOp op : bitwise) {
      for (const int ranks : rank_counts) {
        const Inputs inputs(type, op, ranks, 1);
        for (std::size_t j = 0; j < elements; ++j) {
          int shown = 0;
          for (int rank = 0; rank < ranks; ++rank) {
            const bool differs = inputs.reduced(j, rank) != inputs.reduced(j);
            ASSERT_EQ(inputs.shows_loss(rank, j, 0), differs) << name(op) << ", rank " << rank;
            shown += differs ? 1 : 0;
          }
          ASSERT_EQ(shown, op == ReduceOp::bxor ? ranks : 2) << name(op) << ", " << ranks;
        }
      }
    }
  });
}

TEST(BitwiseInputs, AContributionThatCountsTwiceShowsInBxor) {
  for_each_integer([]<class T>(DataType type) {
    const Inputs inputs(type, ReduceOp::bxor, 4, 1);
    for (std::size_t j = 0; j < inputs.period(); ++j) {
      for (int rank = 0; rank < 4; ++rank)
        ASSERT_NE(inputs.reduced(j) ^ inputs.bits(rank, j), inputs.reduced(j));
    }
  });
}

// At any number of ranks: neither all zeros nor all ones, every bit taking both values.
TEST(BitwiseInputs, ResultsHaveFullEntropyBits) {
  for_each_integer([]<class T>(DataType type) {
    constexpr std::size_t width = 8 * sizeof(T);
    for (const ReduceOp op : bitwise) {
      for (const int ranks : {2, 17, 300}) {
        const Inputs inputs(type, op, ranks, 1);
        std::set<std::uint64_t> values;
        std::vector<std::size_t> ones(width);
        for (std::size_t j = 0; j < inputs.period(); ++j) {
          const std::uint64_t result = inputs.reduced(j);
          values.insert(result);
          for (std::size_t b = 0; b < width; ++b) ones[b] += (result >> b) & 1U;
        }
        SCOPED_TRACE(testing::Message() << name(op) << ", " << ranks);
        const auto [fewest, most] = std::minmax_element(ones.begin(), ones.end());
        EXPECT_GT(*fewest, inputs.period() / 4);
        EXPECT_LT(*most, inputs.period() * 3 / 4);
        // Of 8 bits in a circle, 125 values have three neighbouring zeros, as every band has.
        EXPECT_GE(values.size(), width == 8 ? 125U : inputs.period() - 20);
      }
    }
  });
}

// Integers that must not wrap around are another matter for sums and products only.
TEST(BitwiseInputs, AreTheSameWhereIntegersMayNotWrap) {
  for (const ReduceOp op : bitwise) {
    const Inputs open(DataType::int8, op, 3, 1, false);
    const Inputs wrapping(DataType::int8, op, 3, 1);
    for (std::size_t j = 0; j < elements; ++j) EXPECT_EQ(open.bits(1, j), wrapping.bits(1, j));
  }
}

}  // namespace
}  // namespace ccl_tests::verify
