// What happened to the ranks while they were timed, and what of it makes a time doubtful.
#include "src/measure/estimate.hpp"

#include <gtest/gtest.h>

#include "src/devices/host_limits.hpp"
#include "src/devices/process_counters.hpp"
#include "src/job/rank_table.hpp"
#include "src/run/rank_report.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

// 500 stamps of 40 us on two ranks.
constexpr TimedPart short_part{500, 0.02, 2};
// 6 stamps of 0.5 s.
constexpr TimedPart slow_part{6, 3, 2};

TEST(Evidence, IsWhatGrewBetweenTwoReadings) {
  Evidence all = Evidence{5, 4, 3, 2, 1.5} - Evidence{1, 1, 1, 1, 1};
  all += {1, 0, 0, 1, 0.25};
  EXPECT_EQ(all.minor_faults, 5U);
  EXPECT_EQ(all.major_faults, 3U);
  EXPECT_EQ(all.yielded, 2U);
  EXPECT_EQ(all.preempted, 2U);
  EXPECT_DOUBLE_EQ(all.steal_s, 0.75);
}

TEST(Evidence, OfPageFaultsIsOneOfADiskOrManyOthers) {
  EXPECT_FALSE(has_page_faults({}, short_part));
  EXPECT_FALSE(has_page_faults({.minor_faults = 50}, short_part));
  EXPECT_TRUE(has_page_faults({.minor_faults = 51}, short_part));
  EXPECT_FALSE(has_page_faults({.minor_faults = 16}, slow_part));
  EXPECT_TRUE(has_page_faults({.minor_faults = 17}, slow_part));
  EXPECT_TRUE(has_page_faults({.major_faults = 1}, short_part));
  EXPECT_FALSE(has_page_faults({.preempted = 1000}, short_part));
}

TEST(Evidence, OfNoiseIsPreemptionOfManyStampsOrSteal) {
  EXPECT_FALSE(has_noise({}, short_part));
  EXPECT_FALSE(has_noise({.preempted = 50}, short_part));
  EXPECT_TRUE(has_noise({.preempted = 51}, short_part));
  EXPECT_FALSE(has_noise({.preempted = 15}, slow_part));
  EXPECT_TRUE(has_noise({.preempted = 16}, slow_part));
  EXPECT_FALSE(has_noise({.steal_s = 0.06}, slow_part));
  EXPECT_TRUE(has_noise({.steal_s = 0.07}, slow_part));
  EXPECT_TRUE(has_noise({.steal_s = 0.01}, short_part));
  EXPECT_FALSE(has_steal({.steal_s = 0.06}, slow_part));
  EXPECT_TRUE(has_steal({.steal_s = 0.07}, slow_part));
  EXPECT_FALSE(has_steal({.preempted = 1000}, short_part));
  EXPECT_FALSE(has_noise({.minor_faults = 1000, .yielded = 1000}, short_part));
}

TEST(Steal, IsOfTheNamedCpus) {
  const TemporaryFolder folder;
  EXPECT_EQ(steal_seconds({0}, folder.path()), 0);
  folder.write("proc/stat",
               "cpu  9 9 9 9 9 9 9 900 9 9\n"
               "cpu0 9 9 9 9 9 9 9 100 9 9\n"
               "cpu1 9 9 9 9 9 9 9 200 9 9\n"
               "cpu10 9 9 9 9 9 9 9 400 9 9\n"
               "intr 1 2 3\n");
  const double tick_s = steal_seconds({0}, folder.path()) / 100;
  EXPECT_GT(tick_s, 0);
  EXPECT_DOUBLE_EQ(steal_seconds({0, 1}, folder.path()), 300 * tick_s);
  EXPECT_DOUBLE_EQ(steal_seconds({10}, folder.path()), 400 * tick_s);
  EXPECT_EQ(steal_seconds({2}, folder.path()), 0);
}

TEST(CpuTimes, AreOfTheNamedCpusAndOfThisProcess) {
  const TemporaryFolder folder;
  folder.write("proc/stat",
               "cpu0 100 20 30 4000 500 6 7 8 9 9\n"
               "cpu1 1000 0 0 0 0 0 0 0 0 0\n");
  const double tick_s = cpu_times({false, {1}}, folder.path()).busy / 1000;
  EXPECT_GT(tick_s, 0);
  const CpuTimes before = cpu_times({true, {0, 1}}, folder.path());
  EXPECT_DOUBLE_EQ(before.busy, 1150 * tick_s) << "of programs alone";
  EXPECT_EQ(before.cpus, 2U);
  EXPECT_EQ(cpu_times({true, {0, 2}}, folder.path()).cpus, 0U) << "CPU 2 is not listed";
  while (cpu_times({true, {}}).own < before.own + 0.02) {
  }
  const CpuTimes later = cpu_times({true, {}});
  EXPECT_GT(later.wall, before.wall);
  EXPECT_EQ(later.busy, 0);
  EXPECT_EQ(cpu_times({false, {}}).own, 0);
}

TEST(EventCounters, CountTheFaultsOfTheProcess) {
  EventCounters mine({true, {}});
  EventCounters another({false, {}});
  for (EventCounters* counters : {&mine, &another}) {
    counters->prepare();
    counters->begin();
  }
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 64;
  const Buffer fresh = host_buffer(pages * page);
  for (std::size_t p = 0; p < pages; ++p) fresh.data()[p * page] = std::byte{1};
  EXPECT_GE(mine.end().minor_faults, 1U);  // of huge pages one is enough
  EXPECT_EQ(another.end().minor_faults, 0U);
}

RankTable ranks_on(const std::vector<std::tuple<std::string, long, std::string>>& ranks) {
  RankTable table;
  for (const auto& [machine, pid, cpus] : ranks) {
    RankIdentity rank;
    rank.machine = machine;
    rank.pid = pid;
    rank.cpus = cpus;
    table.ranks.push_back(rank);
  }
  return table;
}

TEST(CounterScope, CountsEachProcessAndEachMachineOnce) {
  const RankTable table =
      ranks_on({{"a", 1, "0-1"}, {"a", 1, "0-1"}, {"a", 2, "2"}, {"b", 1, "4"}, {"a", 2, "2"}});
  const std::vector<bool> processes = {true, false, true, true, false};
  for (int r = 0; r < 5; ++r) {
    const CounterScope scope = counter_scope(table, r);
    EXPECT_EQ(scope.process, processes[static_cast<std::size_t>(r)]) << r;
    const std::set<int> none;
    EXPECT_EQ(scope.cpus, r == 0 ? std::set<int>({0, 1, 2}) : r == 3 ? std::set<int>({4}) : none);
  }
}

// Two ranks of machine a and one of b, for 2 s: what programs did there that are not the ranks'.
TEST(CpuUse, IsOfTheMachineWithTheLargestShareOfOtherPrograms) {
  const RankTable table = ranks_on({{"a", 1, "0-1"}, {"a", 2, "0-1"}, {"b", 1, "0-3"}});
  const auto use = most_crowded(table, {{1.5, 3.9, 2, 2}, {1.9, 0, 2, 0}, {2, 3, 2, 4}});
  ASSERT_TRUE(use);
  EXPECT_EQ(use->cpus, 2U);
  EXPECT_NEAR(use->others, 0.25, 1e-9) << "3.9 s less 1.5 and 1.9, in 2 s";
  EXPECT_NEAR(use->idle, 0.05, 1e-9);
  EXPECT_TRUE(is_crowded(*use));
  const auto room = most_crowded(table, {{2, 4, 2, 2}, {2, 0, 2, 0}, {2, 4, 2, 4}});
  ASSERT_TRUE(room);
  EXPECT_EQ(room->cpus, 4U);
  EXPECT_NEAR(room->others, 1, 1e-9);
  EXPECT_FALSE(is_crowded(*room)) << "2 CPUs were idle";
  // Ticks are coarser than what processes count.
  EXPECT_EQ(most_crowded(table, {{2, 3.98, 2, 2}, {2, 0, 2, 0}, {2, 0, 2, 0}})->others, 0);
  EXPECT_FALSE(most_crowded(table, {{0.1, 0.5, 0.9, 2}, {0, 0, 0.9, 0}, {0, 0, 0.9, 4}}));
  EXPECT_FALSE(most_crowded(table, {{1, 0, 2, 0}, {1, 0, 2, 0}, {1, 0, 2, 0}}));
}

}  // namespace
}  // namespace ccl_tests
