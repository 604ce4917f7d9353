// Which CPUs --bind gives to ranks, on made-up hosts.
#include "src/job/rank_cpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/backends/registry.hpp"
#include "src/core/error.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each node has `cores` cores with one CPU each, numbered through.
std::vector<CpuCore> host(int nodes, int cores) {
  std::vector<CpuCore> all;
  for (int c = 0; c < nodes * cores; ++c) all.push_back({c / cores, {c}});
  return all;
}

// Two hardware threads a core: c and c + the number of cores.
std::vector<CpuCore> with_smt(std::vector<CpuCore> cores) {
  const int number = static_cast<int>(cores.size());
  for (int c = 0; c < number; ++c) cores[static_cast<std::size_t>(c)].cpus.insert(c + number);
  return cores;
}

std::vector<std::string> lists(const std::vector<std::set<int>>& plan) {
  std::vector<std::string> all;
  for (const std::set<int>& cpus : plan) all.push_back(cpu_list(cpus));
  return all;
}

TEST(CpuList, IsWhatTheKernelWrites) {
  EXPECT_EQ(cpu_list({}), "");
  EXPECT_EQ(cpu_list({3}), "3");
  EXPECT_EQ(cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(cpus_in(cpu_list({0, 2, 3, 64})), std::set<int>({0, 2, 3, 64}));
}

TEST(BindToNodes, SpreadsRanksOverTheNodes) {
  EXPECT_THAT(lists(bind_to_nodes(host(1, 4), 2)), ElementsAre("0-3", "0-3"));
  EXPECT_THAT(lists(bind_to_nodes(host(2, 4), 1)), ElementsAre("0-3"));
  EXPECT_THAT(lists(bind_to_nodes(host(2, 4), 2)), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(lists(bind_to_nodes(host(2, 2), 4)), ElementsAre("0-1", "0-1", "2-3", "2-3"));
  EXPECT_THAT(lists(bind_to_nodes(host(2, 2), 3)), ElementsAre("0-1", "0-1", "2-3"));
  EXPECT_THAT(lists(bind_to_nodes(host(4, 1), 2)), ElementsAre("0", "2"));
  EXPECT_THAT(lists(bind_to_nodes(with_smt(host(2, 2)), 2)), ElementsAre("0-1,4-5", "2-3,6-7"));
}

TEST(BindToCores, GivesEachRankItsWholeCores) {
  EXPECT_THAT(lists(bind_to_cores(host(1, 4), 4, 1)), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(lists(bind_to_cores(host(1, 8), 2, 2)), ElementsAre("0-1", "4-5"));
  EXPECT_THAT(lists(bind_to_cores(host(1, 5), 2, 2)), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(lists(bind_to_cores(with_smt(host(1, 4)), 2, 2)), ElementsAre("0-1,4-5", "2-3,6-7"));
  EXPECT_THAT(lists(bind_to_cores(host(2, 4), 4, 2)), ElementsAre("0-1", "2-3", "4-5", "6-7"));
}

TEST(BindToCores, StaysWithinANodeIfEachHasEnough) {
  EXPECT_THAT(lists(bind_to_cores(host(2, 3), 2, 2)), ElementsAre("0-1", "3-4"));
  // 3 ranks of 2 threads on nodes of 3 cores: one node would have to hold two ranks.
  EXPECT_THAT(lists(bind_to_cores(host(2, 3), 3, 2)), ElementsAre("0-1", "2-3", "4-5"));
}

TEST(BindToCores, NeverGivesFewerCoresThanThreads) {
  EXPECT_THAT(bind_to_cores(host(1, 3), 2, 2), IsEmpty());
  EXPECT_THAT(bind_to_cores(with_smt(host(1, 2)), 2, 2), IsEmpty());
  for (int nodes = 1; nodes <= 4; ++nodes)
    for (int cores = 1; cores <= 6; ++cores)
      for (int ranks = 1; ranks <= 8; ++ranks)
        for (int threads = 1; threads <= 3; ++threads) {
          const auto plan = bind_to_cores(host(nodes, cores), ranks, threads);
          EXPECT_EQ(plan.empty(), nodes * cores < ranks * threads);
          std::set<int> taken;
          for (const std::set<int>& cpus : plan) {
            EXPECT_EQ(cpus.size(), static_cast<std::size_t>(threads));
            for (const int cpu : cpus) EXPECT_TRUE(taken.insert(cpu).second) << cpu;
          }
        }
}

// A mask that leaves cores 1 and 2 of the first node and core 5 of the second.
TEST(BindToCores, UsesTheAllowedCpusAlone) {
  const std::vector<CpuCore> some = {{0, {1}}, {0, {2}}, {1, {5}}};
  EXPECT_THAT(lists(bind_to_nodes(some, 2)), ElementsAre("1-2", "5"));
  EXPECT_THAT(lists(bind_to_cores(some, 3, 1)), ElementsAre("1", "2", "5"));
  EXPECT_THAT(lists(bind_to_cores(some, 2, 1)), ElementsAre("1", "5"));
}

TEST(BindWhereShort, SharesTheCpusEvenly) {
  EXPECT_THAT(lists(bind_where_short({0, 1}, 2, 2)), ElementsAre("0", "1"));
  EXPECT_THAT(lists(bind_where_short({2, 5}, 4, 2)), ElementsAre("2", "2", "5", "5"));
  EXPECT_THAT(lists(bind_where_short({0, 1, 2, 3, 8, 9}, 3, 3)), ElementsAre("0-1", "2-3", "8-9"));
}

TEST(BindWhereShort, LeavesTheRestToTheKernel) {
  EXPECT_THAT(bind_where_short({0, 1, 2, 3}, 2, 2), IsEmpty()) << "a CPU for each thread";
  EXPECT_THAT(bind_where_short({0, 1}, 4, 1), IsEmpty()) << "one thread: nothing waits in the rank";
  EXPECT_THAT(bind_where_short({0, 1}, 3, 2), IsEmpty()) << "one CPU would have four threads";
  EXPECT_THAT(bind_where_short({0, 1, 2}, 2, 2), IsEmpty());
  EXPECT_THAT(bind_where_short({}, 2, 2), IsEmpty());
}

TEST(CpuTopology, HasTheCpusOfTheMask) {
  std::vector<CpuCore> cores;
  try {
    cores = cpu_topology();
  } catch (const Unsupported& e) {
    GTEST_SKIP() << e.what();
  }
  std::set<int> cpus;
  for (const CpuCore& core : cores) cpus.insert(core.cpus.begin(), core.cpus.end());
  EXPECT_EQ(cpus, cpus_in(allowed_cpus()));
}

}  // namespace
}  // namespace ccl_tests
