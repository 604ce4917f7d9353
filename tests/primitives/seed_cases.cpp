#include "src/primitives/seeds.hpp"

#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using testing::ElementsAre;

void sync_random_seed(World& world) {
  EXPECT_EQ(primitives::sync_random_seed(world.group, 77 + world.rank()), 77);
  EXPECT_THAT(world.wire.taken(), ElementsAre("broadcast int32[1] from 0"));
}

void shared_random_seed(World& world) {
  EXPECT_EQ(primitives::shared_random_seed(world.group, 77 + world.rank()), 77);
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_gather int64[1]", "all_gather uint8[4]"));
}

void seeds_are_random(World& world) {
  for (const auto sync : {primitives::sync_random_seed, primitives::shared_random_seed}) {
    const std::int32_t seed = sync(world.group, primitives::random_seed());
    EXPECT_GE(seed, 0);
    EXPECT_THAT(world.group.all_gather(std::to_string(seed)), testing::Each(std::to_string(seed)));
    EXPECT_NE(sync(world.group, primitives::random_seed()), seed);  // once in 2^31 it is
  }
}

}  // namespace

std::vector<Case> seed_cases() {
  return {{"sync_random_seed", sync_random_seed},
          {"shared_random_seed", shared_random_seed},
          {"seeds are random", seeds_are_random}};
}

}  // namespace ccl_tests::test
