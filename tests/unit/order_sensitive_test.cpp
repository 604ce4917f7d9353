// Data whose reductions are rounded must be rounded, and the same everywhere.
#include "verify/order_sensitive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "src/core/reduction.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::size_t count = 2000;

std::vector<std::byte> of(const OrderSensitive& data, int contributor) {
  std::vector<std::byte> bytes(count * size_of(data.type));
  data.fill(bytes, contributor, 0);
  return bytes;
}

// Combines the contributors in this order, as a chain does.
std::vector<std::byte> chain(const OrderSensitive& data, const std::vector<int>& order) {
  std::vector<std::byte> result = of(data, order.front());
  for (std::size_t k = 1; k < order.size(); ++k)
    reduce(data.op, data.type, result, of(data, order[k]));
  return result;
}

std::size_t different(DataType type, const std::vector<std::byte>& a,
                      const std::vector<std::byte>& b) {
  const std::size_t width = size_of(type);
  std::size_t number = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::memcmp(a.data() + i * width, b.data() + i * width, width) != 0) ++number;
  return number;
}

TEST(OrderSensitive, SumsAndProductsOfThreeDependOnTheirOrder) {
  for (const DataType type : all_types()) {
    const bool floating = with_type(type, []<class T>() { return is_float<T>; });
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max}) {
      const OrderSensitive data{type, op, 3};
      const std::size_t found = different(type, chain(data, {0, 1, 2}), chain(data, {1, 2, 0}));
      if (floating && op != ReduceOp::max) {
        EXPECT_GT(found, count / 20) << name(type) << " " << name(op);
      } else {
        EXPECT_EQ(found, 0U) << name(type) << " " << name(op);
      }
      // Two have one order: addition and multiplication are commutative.
      EXPECT_EQ(different(type, chain(data, {0, 1}), chain(data, {1, 0})), 0U) << name(type);
    }
  }
}

// What the ranks' inputs are combined to, by pairs of pairs: (a + b) + (c + d).
std::vector<std::byte> tree(const OrderSensitive& data, const std::array<int, 4>& leaves,
                            Exchange exchange) {
  const auto input = [&](int leaf) {
    return of(data, contributor(exchange, leaves[static_cast<std::size_t>(leaf)], 4));
  };
  std::vector<std::byte> left = input(0), right = input(2);
  reduce(data.op, data.type, left, input(1));
  reduce(data.op, data.type, right, input(3));
  reduce(data.op, data.type, left, right);
  return left;
}

// Rotated and reversed, (0 + 2) + (1 + 3) is still the same sum: Open MPI's reduce_scatter on four ranks is one.
TEST(OrderSensitive, NoOrderOfFourIsTheSameInAllExchanges) {
  const OrderSensitive data{DataType::float32, ReduceOp::sum, 4};
  std::array<int, 4> leaves = {0, 1, 2, 3};
  do {
    std::size_t most_in_tree = 0, most_in_chain = 0;
    const auto first = tree(data, leaves, Exchange::none);
    const std::vector<int> order(leaves.begin(), leaves.end());
    for (const Exchange exchange : {Exchange::rotated, Exchange::swapped, Exchange::shuffled}) {
      most_in_tree =
          std::max(most_in_tree, different(data.type, first, tree(data, leaves, exchange)));
      std::vector<int> exchanged;
      for (const int rank : order) exchanged.push_back(contributor(exchange, rank, 4));
      most_in_chain =
          std::max(most_in_chain, different(data.type, chain(data, order), chain(data, exchanged)));
    }
    EXPECT_GT(most_in_tree, count / 20);
    EXPECT_GT(most_in_chain, count / 20);
  } while (std::next_permutation(leaves.begin(), leaves.end()));
}

TEST(OrderSensitive, ExchangesArePermutations) {
  for (int ranks = 1; ranks < 70; ++ranks)
    for (const Exchange exchange :
         {Exchange::none, Exchange::rotated, Exchange::swapped, Exchange::shuffled}) {
      std::set<int> all;
      for (int r = 0; r < ranks; ++r) all.insert(contributor(exchange, r, ranks));
      EXPECT_EQ(all.size(), static_cast<std::size_t>(ranks));
      EXPECT_EQ(*all.begin(), 0);
      EXPECT_EQ(*all.rbegin(), ranks - 1);
    }
}

TEST(OrderSensitive, DependsOnSeedContributorAndIndexAlone) {
  const OrderSensitive data{DataType::float32, ReduceOp::sum, 4, true, 7};
  const auto whole = of(data, 2);
  std::vector<std::byte> part(100 * sizeof(float));
  data.fill(part, 2, 300);
  EXPECT_EQ(std::memcmp(part.data(), whole.data() + 300 * sizeof(float), part.size()), 0);
  EXPECT_NE(of(data, 3), whole);
  OrderSensitive other = data;
  other.seed = 8;
  EXPECT_NE(of(other, 2), whole);
  // Files of digests are compared between machines and versions.
  EXPECT_EQ(digest_text(digest(whole)), "2dc7148dac9b33af");
}

TEST(OrderSensitive, StaysFinite) {
  constexpr int ranks = 100;
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) all.push_back(r);
  for (const DataType type : {DataType::half, DataType::f8e4m3, DataType::f8e5m2,
                              DataType::bfloat16, DataType::float32, DataType::float64}) {
    const auto sum = chain({type, ReduceOp::sum, ranks}, all);
    with_type(type, [&]<class T>() {
      if constexpr (is_float<T>) {
        for (std::size_t i = 0; i < count; ++i) {
          T value;
          std::memcpy(&value, sum.data() + i * sizeof(T), sizeof(T));
          ASSERT_TRUE(std::isfinite(to_double(value))) << name(type);
        }
      }
    });
  }
}

// MPI leaves overflow open, and Open MPI's depends on the order.
TEST(OrderSensitive, IntegersStayInRangeWhereTheyDoNotWrap) {
  constexpr int ranks = 9;
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::mulsum, ReduceOp::prod}) {
    std::vector<int> sums(count, op == ReduceOp::prod ? 1 : 0);
    for (int r = 0; r < ranks; ++r) {
      const auto mine = of({DataType::int8, op, ranks, false}, r);
      for (std::size_t i = 0; i < count; ++i) {
        const int value = static_cast<std::int8_t>(mine[i]);
        if (op == ReduceOp::prod) {
          sums[i] *= value;
        } else {
          sums[i] += value * (op == ReduceOp::mulsum ? mulsum_scalar(r) : 1);
        }
        ASSERT_LE(std::abs(sums[i]), 127) << name(op);
      }
    }
  }
}

TEST(Distance, IsInUnitsInTheLastPlace) {
  const auto apart = [](DataType type, auto a, auto b) {
    return distance(type, reinterpret_cast<const std::byte*>(&a),
                    reinterpret_cast<const std::byte*>(&b));
  };
  EXPECT_EQ(apart(DataType::float32, 1.0F, std::nextafter(1.0F, 2.0F)), 1U);
  EXPECT_EQ(apart(DataType::float32, 1.0F, 1.5F), 1U << 22);
  EXPECT_EQ(apart(DataType::float64, -1.0, std::nextafter(-1.0, 0.0)), 1U);
  EXPECT_EQ(apart(DataType::int32, -5, 7), 12U);
  EXPECT_EQ(apart(DataType::uint8, std::uint8_t{250}, std::uint8_t{1}), 249U);
  EXPECT_EQ(apart(DataType::half, std::uint16_t{0x3c00}, std::uint16_t{0x3c03}), 3U);
}

TEST(Distance, ElementsAreWrittenAsValueAndBits) {
  const auto text = [](DataType type, auto value) {
    return element_text(type, reinterpret_cast<const std::byte*>(&value));
  };
  EXPECT_EQ(text(DataType::float32, -1.25F), "-1.25 (0xbfa00000)");
  EXPECT_EQ(text(DataType::int8, std::int8_t{-2}), "-2 (0xfe)");
  EXPECT_EQ(text(DataType::bfloat16, std::uint16_t{0x3f80}), "1 (0x3f80)");
  EXPECT_EQ(text(DataType::float64, 0.1), "0.10000000000000001 (0x3fb999999999999a)");
}

}  // namespace
}  // namespace ccl_tests::verify
