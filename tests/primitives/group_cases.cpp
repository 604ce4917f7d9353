#include "src/primitives/group.hpp"

#include <algorithm>

#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void who_is_who(World& world) {
  EXPECT_EQ(world.group.is_main(), world.rank() == 0);
  EXPECT_EQ(world.group.is_distributed(), world.ranks() > 1);
  int called = 0;
  world.group.main_only([&] { ++called; });
  EXPECT_EQ(called, world.rank() == 0 ? 1 : 0);
}

void barrier(World& world) {
  world.group.barrier();
  EXPECT_THAT(world.wire.taken(), ElementsAre("barrier"));
}

void roots_that_are_not_there(World& world) {
  for (const int root : {-1, world.ranks()}) {
    EXPECT_THAT(error_of([&] {
                  world.group.call(nullptr, nullptr, 0, DataType::uint8, ReduceOp::sum, root);
                }),
                HasSubstr(fmt::format("no rank {} in a group of {} ranks", root, world.ranks())));
  }
}

void rooms_grow_and_stay(World& world) {
  primitives::Workspace& workspace = world.group.workspace();
  const auto room = workspace.room<int>("test", 100);
  EXPECT_EQ(room.size(), 100U);
  std::fill(room.begin(), room.end(), 7);
  EXPECT_EQ(workspace.room<int>("test", 50).data(), room.data());
  EXPECT_NE(workspace.room<int>("other", 50).data(), room.data());
  EXPECT_EQ(room[99], 7);
  EXPECT_EQ(workspace.room<int>("test", 200).size(), 200U);
  EXPECT_NE(workspace.room<int>("empty", 0).data(), nullptr);
}

}  // namespace

std::vector<Case> group_cases() {
  return {{"who is who", who_is_who},
          {"barrier", barrier},
          {"roots that are not there", roots_that_are_not_there},
          {"rooms grow and stay", rooms_grow_and_stay}};
}

}  // namespace ccl_tests::test
