// How large a row's buffers are, compared with what every rank's layout says.
#include "src/run/memory_limit.hpp"

#include <algorithm>

#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

RowBytes of_every_rank(const Collective& collective, Shape s) {
  RowBytes result;
  for (s.self.rank = 0; s.self.rank < s.self.ranks; ++s.self.rank) {
    const Layout layout = collective.layout(s);
    const InPlace at = layout.in_place.value_or(InPlace{0, 0});
    const std::size_t larger = std::max(layout.send, layout.recv);
    const std::size_t end = std::max(at.send + layout.send, at.recv + layout.recv);
    result.size = std::max(result.size, larger / layout.messages * s.type_bytes);
    result.region = std::max(result.region, end * s.type_bytes);
  }
  return result;
}

void expect_same(const Collective& collective, const Shape& s) {
  const RowBytes all = of_every_rank(collective, s);
  const RowBytes some = row_bytes(collective, s);
  // Rows of several routings have the size of the tokens.
  const std::size_t size = collective.flags.routing ? collective.layout(s).algbw_bytes : all.size;
  EXPECT_EQ(some.size, size) << collective.name << ", " << s.self.ranks << " ranks";
  EXPECT_EQ(some.region, all.region) << collective.name << ", " << s.self.ranks << " ranks";
}

TEST(RowBytes, AreThoseOfTheLargestRank) {
  for (const Collective* collective : all_collectives()) {
    for (const Skew skew : {Skew::equal, Skew::linear, Skew::one_large}) {
      CollectiveOptions options;
      options.skew = skew;
      options.window = 3;
      options.alltoallv_spread = 0.7;
      for (const std::size_t count : {0, 1, 37, 144, 5000, 40'001}) {
        for (const int ranks : {1, 2, 3, 4, 7, 8, 9, 64}) {
          if (!runs_on(*collective, ranks) || (collective->domain.paired && ranks != 2)) continue;
          // All roots of few ranks, and of many the first, the last and two between.
          const int step = ranks > 9 ? (ranks - 1) / 3 : 1;
          for (int root = 0; root < (collective->domain.rooted ? ranks : 1); root += step) {
            for (const std::size_t width : {1, 4})
              expect_same(*collective, {count, width, {0, ranks}, options, root});
          }
        }
      }
    }
  }
}

TEST(RowBytes, OfAMatrixMayBeThoseOfAnyRank) {
  for (const auto& matrix : std::vector<std::vector<std::vector<std::size_t>>>{
           {{16, 32, 0}, {64, 0, 160}, {0, 0, 0}}, {{16, 64, 0}, {0, 0, 16}, {0, 160, 0}}}) {
    CollectiveOptions options;
    options.alltoallv_bytes = matrix;
    const Shape s{1 << 20, 4, {0, 3}, options};
    expect_same(collectives::alltoallv, s);
    EXPECT_EQ(row_bytes(collectives::alltoallv, s).size, 224U);
  }
}

}  // namespace
}  // namespace ccl_tests::test
