// Averages of floating-point types: every way that libraries compute them stays within the
// tolerance, and no way that has lost a contributor does.
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
  int contributors = 0;
  for (const Way& way : ways) {
    EXPECT_LE(units_apart(average(way, values, inputs.ranks()), expected), tolerance) << way.name;
  }
  for (std::size_t lost = 0; lost < values.size(); ++lost) {
    if (to_double(values[lost]) == 0) continue;
    ++contributors;
    std::vector<T> rest = values;
    rest[lost] = from_double<T>(0);
    for (const Way& way : ways) {
      EXPECT_GT(units_apart(average(way, rest, inputs.ranks()), expected), tolerance)
          << way.name << ", without one contributor";
    }
  }
  EXPECT_EQ(contributors, std::min(2, inputs.ranks()));
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
        if (inputs.not_verifiable()) continue;
        const int elements = ranks <= 64 ? 100 : ranks <= 257 ? 20 : 4;
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
