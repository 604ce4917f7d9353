// RankGroups of a group's ranks, and what is refused.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>

#include "src/backends/registry.hpp"
#include "src/core/communicator.hpp"
#include "src/primitives/group.hpp"
#include "src/primitives/objects.hpp"
#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using primitives::Group;
using testing::ElementsAre;
using testing::HasSubstr;

// All ranks but rank 1, the last first.
std::vector<int> all_but_1(int ranks) {
  std::vector<int> list;
  for (int rank = ranks - 1; rank >= 0; --rank)
    if (rank != 1) list.push_back(rank);
  return list;
}

// Sources, destinations and orders are the group's own, and its ranks are `members` of the world.
void expect_ranks_of_its_own(World& world, Group& group, const std::vector<int>& members) {
  ASSERT_EQ(group.ranks(), static_cast<int>(members.size()));
  EXPECT_EQ(members[static_cast<std::size_t>(group.rank())], world.rank());
  EXPECT_EQ(group.is_main(), members.front() == world.rank());
  EXPECT_EQ(group.backend(), world.group.backend());
  const std::string mine = std::string(static_cast<std::size_t>(5 * world.rank()), 'x');
  primitives::Objects everyones;
  primitives::all_gather_object(group, primitives::bytes_of(mine), everyones);
  for (std::size_t r = 0; r < members.size(); ++r) {
    EXPECT_EQ(everyones.sizes[r], static_cast<std::size_t>(5 * members[r]));
    std::int64_t source = world.rank();
    group.communicator().broadcast(
        group.call(&source, &source, 1, DataType::int64, ReduceOp::sum, static_cast<int>(r)));
    group.communicator().wait();
    EXPECT_EQ(source, members[r]);
    primitives::gather_object(group, primitives::bytes_of(mine), static_cast<int>(r), everyones);
    EXPECT_EQ(everyones.count(), group.rank() == static_cast<int>(r) ? members.size() : 0U);
  }
  group.all_gather("");
}

void new_group(World& world) {
  const std::vector<int> members = all_but_1(world.ranks());
  const auto group = world.group.new_group(members);
  ASSERT_EQ(group == nullptr, world.rank() == 1);
  EXPECT_THAT(world.wire.taken(), testing::IsEmpty());
  if (group) expect_ranks_of_its_own(world, *group, members);
}

void groups_of_groups(World& world) {
  const auto group = world.group.new_group(all_but_1(world.ranks()));
  if (!group) return;
  const auto alone = group->new_group({group->ranks() - 1});  // rank 0 of the world
  ASSERT_EQ(alone != nullptr, world.rank() == 0);
  if (alone) expect_ranks_of_its_own(world, *alone, {0});
  group->all_gather("");
}

void split(World& world) {
  const int color = world.rank() % 2;
  const auto group = world.group.split(color, -world.rank());
  std::vector<int> members;
  for (int rank = world.ranks() - 1; rank >= 0; --rank)
    if (rank % 2 == color) members.push_back(rank);
  expect_ranks_of_its_own(world, *group, members);

  const auto rest = world.group.split(world.rank() == 0 ? -1 : 7, 0);
  ASSERT_EQ(rest == nullptr, world.rank() == 0);
  if (rest) {
    EXPECT_EQ(rest->rank(), world.rank() - 1);
    rest->all_gather("");
  }
}

void lists_that_are_refused(World& world) {
  const int n = world.ranks();
  const auto refusal = [&](const std::vector<int>& list) {
    return error_everywhere(world, [&] { world.group.new_group(list); });
  };
  EXPECT_THAT(refusal({0, n}), HasSubstr(fmt::format("no rank {} in a group of {} ranks", n, n)));
  EXPECT_THAT(refusal({-1}), HasSubstr("no rank -1"));
  EXPECT_THAT(refusal({0, 0}), HasSubstr("rank 0 is listed twice"));
  EXPECT_THAT(refusal({}), HasSubstr("no ranks"));
  if (n == 1) return;
  const std::string disagreement = refusal(world.rank() == 2 ? std::vector{0} : std::vector{0, 1});
  EXPECT_THAT(disagreement, HasSubstr("rank 2: the list of ranks is [0], on rank 0 it is [0, 1]"));
}

void groups_without_a_backend(World& world) {
  Group group(world.group.channel(), world.wire);
  EXPECT_EQ(group.backend(), "");
  EXPECT_THAT(error_everywhere(world, [&] { group.split(0, 0); }), HasSubstr("no backend"));
  EXPECT_THAT(error_everywhere(world, [&] { group.new_group({0}); }), HasSubstr("no backend"));
}

void local_groups_of_equal_size(World& world) {
  const int n = world.ranks();
  Group& group = world.group;
  if (n == 1) {
    EXPECT_EQ(group.local_rank(), 0);
    EXPECT_EQ(group.local_size(), 1);
    EXPECT_EQ(&group.local_group(), &group);
  } else {
    EXPECT_THAT(error_of([&] { group.local_rank(); }), HasSubstr("create_local_group"));
    EXPECT_THAT(error_of([&] { group.local_size(); }), HasSubstr("create_local_group"));
  }
  for (const int size : {1, n, n == 4 ? 2 : n}) {
    group.create_local_group(size);
    EXPECT_THAT(world.wire.taken(), ElementsAre("barrier"));
    EXPECT_EQ(group.local_rank(), world.rank() % size);
    EXPECT_EQ(group.local_size(), size);
    std::vector<int> members(static_cast<std::size_t>(size));
    std::iota(members.begin(), members.end(), world.rank() / size * size);
    expect_ranks_of_its_own(world, group.local_group(), members);
    group.all_gather("");
  }
  for (const int size : {0, -1, n + 1, n - 1 > 1 ? n - 1 : n + 1}) {
    EXPECT_THAT(error_everywhere(world, [&] { group.create_local_group(size); }),
                HasSubstr(fmt::format("{} ranks cannot be divided into machines of {}", n, size)));
  }
  if (n == 1) return;
  EXPECT_THAT(
      error_everywhere(world, [&] { group.create_local_group(world.rank() == n - 1 ? n : 1); }),
      HasSubstr(fmt::format("rank {}: ranks_per_machine is {}, on rank 0 it is 1", n - 1, n)));
}

void local_groups_by_machine(World& world) {
  Group& group = world.group;
  group.create_local_group_by_machine();
  EXPECT_EQ(group.local_rank(), world.rank());  // the tests' ranks are on one
  EXPECT_EQ(group.local_size(), world.ranks());
  group.all_gather("");
  group.create_local_group_by_machine(world.rank() % 2 == 0 ? "even" : "odd");
  EXPECT_EQ(group.local_rank(), world.rank() / 2);
  EXPECT_EQ(group.local_size(), (world.ranks() + 1 - world.rank() % 2) / 2);
  group.all_gather("");
}

class OnDevice : public Recording {
 public:
  using Recording::Recording;
  const Capabilities& capabilities() const override { return on_gpu_; }

 private:
  const Capabilities on_gpu_{.memory = Memory::cuda};
};

void group_for_host_data(World& world) {
  const BackendPtr host = open_backend("loopback");
  EXPECT_EQ(&world.group.cpu_group(*host), &world.group);
  OnDevice wire(world.wire);
  Group on_device(world.group.channel(), wire);
  Group& on_host = on_device.cpu_group(*host);
  EXPECT_EQ(on_host.backend(), "loopback");
  EXPECT_EQ(on_host.rank(), world.rank());
  EXPECT_EQ(&on_device.cpu_group(*host), &on_host);
  EXPECT_EQ(&on_host.cpu_group(*host), &on_host);
  on_host.barrier();
}

}  // namespace

std::vector<Case> new_group_cases() {
  return {{"new_group", new_group},
          {"groups of groups", groups_of_groups},
          {"split", split},
          {"lists that are refused", lists_that_are_refused},
          {"groups without a backend", groups_without_a_backend},
          {"local groups of equal size", local_groups_of_equal_size},
          {"local groups by machine", local_groups_by_machine},
          {"group for host data", group_for_host_data}};
}

}  // namespace ccl_tests::test
