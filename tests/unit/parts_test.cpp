// How --skew divides a size over the ranks.
#include <gmock/gmock.h>

#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

using testing::ElementsAre;

CollectiveOptions skewed(Skew skew) {
  CollectiveOptions options;
  options.skew = skew;
  return options;
}
const CollectiveOptions equal = skewed(Skew::equal), linear = skewed(Skew::linear),
                        one_large = skewed(Skew::one_large);

Shape shape(std::size_t count, const CollectiveOptions& options, int ranks = 4, int rank = 0,
            int root = 0) {
  return {count, 4, {rank, ranks}, options, root};
}

TEST(Parts, EqualIsTheBlockOfTheOtherCollectives) {
  for (const std::size_t count : {0, 3, 15, 16, 1000, 1001}) {
    const Shape s = shape(count, equal, 3);
    EXPECT_THAT(parts(s), ElementsAre(block(s), block(s), block(s)));
  }
}

TEST(Parts, LinearGrowsWithTheRank) {
  EXPECT_THAT(parts(shape(1000, linear)), ElementsAre(100, 200, 300, 400));
  EXPECT_THAT(parts(shape(1001, linear)), ElementsAre(100, 200, 300, 400));
  EXPECT_THAT(parts(shape(39, linear)), ElementsAre(0, 4, 8, 12));  // 16 bytes are 4 elements
}

TEST(Parts, OneLargeIsTheLastRanks) {
  EXPECT_THAT(parts(shape(1003 * 8, one_large)), ElementsAre(8, 8, 8, 8000));
  EXPECT_THAT(parts(shape(1000, one_large)), ElementsAre(0, 0, 0, 996));
  EXPECT_THAT(parts(shape(1000, one_large, 1)), ElementsAre(1000));
}

TEST(Parts, CountsIn64Bits) {
  const std::size_t count = std::size_t{1} << 60;
  for (const CollectiveOptions* options : {&equal, &linear, &one_large}) {
    const auto all = parts(shape(count, *options, 1024));
    EXPECT_LE(sum(all), count);
    EXPECT_GT(sum(all), count - 1024 * 1024);
  }
}

TEST(Parts, FactorsCountWhatCrossesTheMostLoadedLink) {
  EXPECT_DOUBLE_EQ(all_gatherv.bus_factor(shape(1000, linear)), 0.9);
  EXPECT_DOUBLE_EQ(reduce_scatterv.bus_factor(shape(1000, linear)), 0.9);
  EXPECT_DOUBLE_EQ(gatherv.bus_factor(shape(1000, linear, 4, 1, 3)), 0.6);
  EXPECT_DOUBLE_EQ(scatterv.bus_factor(shape(1000, linear, 4, 2, 0)), 0.9);
  for (const Collective* collective : {&all_gatherv, &reduce_scatterv, &gatherv, &scatterv}) {
    EXPECT_DOUBLE_EQ(collective->bus_factor(shape(1024, equal)), 0.75);
    EXPECT_DOUBLE_EQ(collective->bus_factor(shape(0, linear)), 1);
  }
}

TEST(Parts, EveryRankKnowsWhereTheBlocksLie) {
  for (int rank = 0; rank < 4; ++rank) {
    const Shape s = shape(1000, linear, 4, rank);
    EXPECT_THAT(all_gatherv.layout(s).counts->recv_counts, ElementsAre(100, 200, 300, 400));
    EXPECT_THAT(all_gatherv.layout(s).counts->recv_offsets, ElementsAre(0, 100, 300, 600));
    EXPECT_THAT(scatterv.layout(s).counts->send_offsets, ElementsAre(0, 100, 300, 600));
    EXPECT_EQ(all_gatherv.layout(s).send, 100U * (static_cast<std::size_t>(rank) + 1));
    EXPECT_EQ(all_gatherv.layout(s).algbw_bytes, 4000U);
  }
}

}  // namespace
}  // namespace ccl_tests::collectives
