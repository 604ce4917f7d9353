// RankGroups of ranks in the control plane: ControlChannel::split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/bootstrap/thread_ranks.hpp"
#include "tests/unit/bootstrap_jobs.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAreArray;
constexpr double limit_s = 60;

// What the members say, in group rank order.
std::vector<std::string> names(ControlChannel& group, int world_rank) {
  return group.all_gather(std::to_string(world_rank), limit_s);
}

class Groups : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  int threads() const { return std::get<0>(GetParam()); }
  int processes() const { return std::get<1>(GetParam()); }
  int ranks() const { return threads() * processes(); }
};

// Members in reverse order; groups that exchange different numbers of times do not meet.
TEST_P(Groups, ExchangeAmongThemselvesInTheOrderOfTheKeys) {
  test::on_all_ranks(threads(), processes(), [&](ControlChannel& world) {
    const int color = world.rank() % 3;
    const auto group = world.split(color, -world.rank(), limit_s);
    std::vector<std::string> members;
    for (int r = ranks() - 1; r >= 0; --r)
      if (r % 3 == color) members.push_back(std::to_string(r));
    ASSERT_EQ(group->ranks(), static_cast<int>(members.size()));
    EXPECT_EQ(members[static_cast<std::size_t>(group->rank())], std::to_string(world.rank()));
    for (int k = 0; k <= 7 * color; ++k)
      ASSERT_THAT(names(*group, world.rank()), ElementsAreArray(members));
    EXPECT_EQ(world.all_gather("", limit_s).size(), static_cast<std::size_t>(ranks()));
  });
}

TEST_P(Groups, OfGroupsAndOfNobody) {
  test::on_all_ranks(threads(), processes(), [&](ControlChannel& world) {
    const bool out = world.rank() == 0;
    const auto rest = world.split(out ? -1 : 0, 0, limit_s);
    ASSERT_EQ(rest == nullptr, out);
    if (out) return;
    ASSERT_EQ(rest->ranks(), ranks() - 1);
    const auto alone = rest->split(rest->rank(), 0, limit_s);
    EXPECT_THAT(names(*alone, world.rank()), testing::ElementsAre(std::to_string(world.rank())));
    const auto again = rest->split(0, 0, limit_s);  // two groups of one color, one after the other
    EXPECT_EQ(again->rank(), rest->rank());
    EXPECT_EQ(names(*again, 0).size(), names(*rest, 0).size());
  });
}

INSTANTIATE_TEST_SUITE_P(Counts, Groups,
                         testing::Combine(testing::Values(1, 3, 4), testing::Values(1, 3)));

TEST(Groups, ThreadThatDoesNotComeIsNamedByItsRankInTheJob) {
  const auto control = alone();
  ThreadRanks ranks(*control, 4);
  const auto outcomes =
      test::run_all({[&] { ranks.rank(0).split(0, 0, 5); },
                     [&] { ranks.rank(1).split(1, 0, 5)->all_gather("x", 0.1); },
                     [&] { ranks.rank(2).split(0, 0, 5); }, [&] { ranks.rank(3).split(1, 0, 5); }});
  EXPECT_EQ(outcomes[1].code, 5);
  EXPECT_THAT(outcomes[1].message, testing::HasSubstr("rank 3 "));
}

TEST(Groups, ProcessThatDoesNotComeIsNamed) {
  const auto outcomes = test::run_job(3, 1, [](Control& control) {
    ThreadRanks ranks(control, 1);
    const auto group = ranks.rank(0).split(control.process() == 0 ? 1 : 0, 0, limit_s);
    if (control.process() == 1) {
      group->all_gather("x", 0.2);
    } else {
      control.wait_failure(20);
    }
  });
  EXPECT_EQ(outcomes[1].code, 5);
  EXPECT_THAT(outcomes[1].message, testing::HasSubstr("rank 2 on "));
}

TEST(Groups, AbortFreesWhoWaitsInAGroup) {
  const auto control = alone();
  ThreadRanks ranks(*control, 3);
  const auto wait = [&](int t) {
    const auto group = ranks.rank(t).split(t == 0 ? 1 : 0, 0, limit_s);
    if (t == 0) ranks.abort("rank lost");
    if (t != 0) group->split(0, 0, limit_s)->all_gather("x", limit_s);
    while (t != 0) group->all_gather("x", limit_s);
  };
  const auto outcomes = test::run_all({[&] { wait(0); }, [&] { wait(1); }, [&] { wait(2); }});
  for (const std::size_t t : {1, 2}) EXPECT_EQ(outcomes[t].message, "rank lost");
}

}  // namespace
}  // namespace ccl_tests
