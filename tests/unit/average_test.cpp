// Averages of floating-point types: every way that libraries compute them stays within the
// tolerance, and no way that has lost or doubled a contributor does, nor another operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/arithmetic.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {
namespace {

template <class T>
T sum(const std::vector<T>& values) {
  T total = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) total = plus(total, values[i]);
  return total;
}

struct Way {
  const char* name;
  bool reciprocal, before;  // by the rounded reciprocal; before the sum
};
constexpr Way ways[] = {{"sum, then divide", false, false},
                        {"sum, then multiply by 1/n", true, false},
                        {"multiply by 1/n, then sum", true, true},
                        {"divide, then sum", false, true}};

template <class T>
T average(const Way& way, std::vector<T> values, int ranks) {
  const double reciprocal = to_double(from_double<T>(1.0 / ranks));
  const auto scale = [&](T value) {
    const double x = to_double(value);
    return from_double<T>(way.reciprocal ? x * reciprocal : x / ranks);
  };
  if (!way.before) return scale(sum(values));
  for (T& value : values) value = scale(value);
  return sum(values);
}

template <class T>
void check(const Inputs& inputs, std::size_t j, std::mt19937_64& random) {
  std::vector<T> values;
  for (int rank = 0; rank < inputs.ranks(); ++rank) {
    values.push_back(from_bits<T>(inputs.bits(rank, j)));
  }
  std::shuffle(values.begin(), values.end(), random);
  const T expected = from_bits<T>(inputs.reduced(j));
  const auto tolerance = static_cast<std::uint64_t>(inputs.tolerance());
  for (const Way& way : ways)
    EXPECT_LE(units_apart(average(way, values, inputs.ranks()), expected), tolerance) << way.name;
  std::vector<std::size_t> contributors;
  for (std::size_t at = 0; at < values.size(); ++at)
    if (to_double(values[at]) != 0) contributors.push_back(at);
  EXPECT_GE(contributors.size(), std::min<std::size_t>(2, values.size()));
  constexpr std::size_t most_tried = 16;
  contributors.resize(std::min(contributors.size(), most_tried));  // in random order
  for (const std::size_t at : contributors) {
    for (const double factor : {0.0, 2.0}) {
      std::vector<T> other = values;
      other[at] = from_double<T>(factor * to_double(values[at]));
      for (const Way& way : ways) {
        EXPECT_GT(units_apart(average(way, other, inputs.ranks()), expected), tolerance)
            << way.name << ", one contributor " << factor << " times";
      }
    }
  }
}

class Average : public testing::TestWithParam<DataType> {};

TEST_P(Average, IsWithinToleranceExactlyWhenComplete) {
  const DataType type = GetParam();
  with_type(type, [&]<class T>() {
    if constexpr (is_float<T>) {
      std::mt19937_64 random(1);
      for (const int ranks : {1,  2,  3,  4,  5,  6,  7,  8,  9,  11,  12,  13,  15,   16,  17,
                              24, 31, 33, 48, 51, 63, 64, 65, 96, 127, 257, 999, 1024, 4096}) {
        const Inputs inputs(type, ReduceOp::avg, ranks, 1);
        if (!inputs.verifiable()) continue;
        const int elements = ranks <= 64 ? 100 : ranks <= 257 ? 20 : 2;
        for (int k = 0; k < elements; ++k) {
          const std::size_t j = random() % inputs.period();
          check<T>(inputs, j, random);
          ASSERT_FALSE(testing::Test::HasFailure()) << ranks << " ranks, element " << j;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Inputs, Average,
                         testing::Values(DataType::half, DataType::float32, DataType::float64,
                                         DataType::bfloat16, DataType::f8e4m3, DataType::f8e5m2),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace ccl_tests::verify
