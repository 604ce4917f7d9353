// The CPUs of a process, read from made-up /proc and /sys, and whether they are enough for its
// ranks.
#include "src/core/communicator.hpp"
#include "src/devices/host_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "src/job/rank_cpus.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HostCpus : public testing::Test {
 protected:
  void cgroup(const std::string& lines) { folder_.write("proc/self/cgroup", lines); }
  void limit(const std::string& file, const std::string& text) {
    folder_.write("sys/fs/cgroup/" + file, text + "\n");
  }
  double quota() const { return cpu_quota(folder_.path()); }
  TemporaryFolder folder_;
};

TEST_F(HostCpus, AreThoseThatTheKernelLists) {
  folder_.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n");
  folder_.write("proc/self/status", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3,8\n");
  EXPECT_EQ(cpu_model(folder_.path()), "Fast CPU @ 3 GHz");
  EXPECT_EQ(allowed_cpus(folder_.path()), "0-3,8");
  EXPECT_EQ(cpu_model("/nowhere"), "CPU");
  EXPECT_EQ(allowed_cpus("/nowhere"), "unknown");
  EXPECT_THAT(cpus_in("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(cpus_in("5"), ElementsAre(5));
  EXPECT_THAT(cpus_in("unknown"), IsEmpty());
}

TEST_F(HostCpus, SayTheirLargestCache) {
  EXPECT_EQ(last_cache_bytes(folder_.path()), 0U);
  folder_.write("proc/self/status", "Cpus_allowed_list:\t3\n");
  const std::string caches = "sys/devices/system/cpu/cpu3/cache/index";
  folder_.write(caches + "0/size", "48K\n");
  folder_.write(caches + "1/size", "32K\n");
  folder_.write(caches + "2/size", "266240K\n");
  EXPECT_EQ(last_cache_bytes(folder_.path()), std::size_t{260} << 20);
}

TEST_F(HostCpus, AreLimitedInTimeByEveryCgroupAbove) {
  EXPECT_EQ(quota(), 0);
  cgroup("0::/job/step\n");
  limit("job/step/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0);
  limit("job/cpu.max", "250000 100000");
  EXPECT_EQ(quota(), 2.5);
  limit("cpu.max", "200000 100000");
  EXPECT_EQ(quota(), 2);
}

TEST_F(HostCpus, AreLimitedInTimeByVersion1) {
  cgroup("5:memory:/job\n4:cpu,cpuacct:/job\n");
  limit("cpu/job/cpu.cfs_quota_us", "-1");
  limit("cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 0);
  limit("cpu/job/cpu.cfs_quota_us", "50000");
  EXPECT_EQ(quota(), 0.5);
}

class Threads : public Backend {
 public:
  explicit Threads(int each) : each_(each) {}
  BackendInfo info() const override { return {.name = "lib", .threads_per_rank = each_}; }
  std::unique_ptr<Communicator> connect(ControlChannel& /*channel*/,
                                        const BackendOptions& /*options*/) const override {
    return nullptr;
  }

 private:
  int each_;
};

RankIdentity on(const std::string& machine, const std::string& host, const std::string& cpus,
                double quota = 0) {
  RankIdentity rank;
  rank.machine = machine;
  rank.host = host;
  rank.cpus = cpus;
  rank.cpu_quota = quota;
  return rank;
}

TEST(CpuShortage, IsOfThreadsThatWorkAtOnce) {
  const std::vector<RankIdentity> bound = {on("m", "a", "0"), on("m", "a", "1")};
  EXPECT_EQ(cpu_shortage(bound, Threads(1)), "");
  EXPECT_EQ(
      cpu_shortage(bound, Threads(2)),
      "2 CPUs for 4 busy threads (2 ranks x 2 threads of lib) on a: times include waiting for a "
      "CPU");
  EXPECT_EQ(cpu_shortage({3, on("m", "a", "0-3,8")}, Threads(0)), "");
  EXPECT_EQ(cpu_shortage({3, on("m", "a", "0")}, Threads(0)), "");
  EXPECT_EQ(cpu_shortage({on("m", "a", "0")}, Threads(2)), "");  // sends nothing
  EXPECT_EQ(cpu_shortage({3, on("m", "a", "unknown")}, Threads(2)), "");
  EXPECT_EQ(cpu_shortage({3, on("m", "a", "7")}, Threads(1)),
            "1 CPUs for 3 busy threads (3 ranks) on a: times include waiting for a CPU");
}

TEST(CpuShortage, CountsALoadOfEachRank) {
  const std::vector<RankIdentity> bound = {on("m", "a", "0-1"), on("m", "a", "2-3")};
  EXPECT_EQ(cpu_shortage(bound, Threads(1), true), "");
  EXPECT_EQ(cpu_shortage(bound, Threads(2), true),
            "4 CPUs for 6 busy threads (2 ranks x 2 threads of lib, each with a load) on a: ratios "
            "include waiting for a CPU");
  EXPECT_EQ(cpu_shortage({on("m", "a", "0")}, Threads(1), true),
            "1 CPUs for 2 busy threads (1 rank, each with a load) on a: ratios include waiting for "
            "a CPU");
}

TEST(CpuShortage, NamesTheWorstMachine) {
  std::vector<RankIdentity> ranks(4, on("m1", "a", "0-1"));
  for (int i = 0; i < 8; ++i) ranks.push_back(on("m2", "b", "0-1"));
  ranks.push_back(on("m3", "c", "0-63"));
  EXPECT_EQ(
      cpu_shortage(ranks, Threads(1)),
      "2 CPUs for 8 busy threads (8 ranks) on b (and on 1 more host): times include waiting for a "
      "CPU");
}

// Containers of one machine: each has its quota, and together they have no more CPUs than it.
TEST(CpuShortage, CountsTheTimeOfContainers) {
  std::vector<RankIdentity> ranks(2, on("m", "a", "0-63", 1.5));
  EXPECT_EQ(cpu_shortage(ranks, Threads(1)),
            "1.5 CPUs for 2 busy threads (2 ranks) on a: times include waiting for a CPU");
  ranks.push_back(on("m", "b", "0-63", 2));
  EXPECT_EQ(cpu_shortage(ranks, Threads(1)), "");
  ranks.push_back(on("m", "c", "0-63"));
  EXPECT_EQ(cpu_shortage(ranks, Threads(2)), "");
}

TEST(DefaultThreads, HaveACpuForEachOfTheirThreads) {
  EXPECT_EQ(default_threads(64, Threads(2)), 4);
  EXPECT_EQ(default_threads(8, Threads(2)), 4);
  EXPECT_EQ(default_threads(7.5, Threads(2)), 3);
  EXPECT_EQ(default_threads(4, Threads(2)), 2);
  EXPECT_EQ(default_threads(3, Threads(1)), 3);
  EXPECT_EQ(default_threads(2, Threads(2)), 2);  // the least
  EXPECT_EQ(default_threads(0.5, Threads(0)), 2);
}

// A step that was given fewer CPUs than its job has.
TEST(MoreCpus, AreWhatTheLauncherCanGive) {
  std::map<std::string, std::string> variables = {{"SLURM_JOB_CPUS_PER_NODE", "8(x2)"},
                                                  {"SLURM_CPUS_PER_TASK", "1"}};
  const Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const auto process = [](const char* machine, long pid, const char* cpus) {
    RankIdentity rank;
    rank.machine = machine;
    rank.pid = pid;
    rank.cpus = cpus;
    return rank;
  };
  const std::vector<RankIdentity> ranks = {process("a", 1, "0"), process("a", 2, "1"),
                                           process("b", 3, "0")};
  EXPECT_EQ(more_cpus(ranks, "srun", environment),
            "srun -c 4, or SRUN_CPUS_PER_TASK=4 in front of srun: the job has 8 CPUs on this node "
            "(SLURM_JOB_CPUS_PER_NODE=8(x2)), the step uses 2 of them (SLURM_CPUS_PER_TASK: 1)");
  EXPECT_EQ(more_cpus({2, process("a", 1, "3")}, "srun", environment).substr(0, 10), "srun -c 8,");
  variables = {{"SLURM_JOB_CPUS_PER_NODE", "2"}};
  EXPECT_EQ(more_cpus(ranks, "srun", environment), "srun -c N");
  variables.clear();
  EXPECT_EQ(more_cpus(ranks, "srun", environment), "srun -c N");
  EXPECT_EQ(more_cpus(ranks, "none", environment), "");
  EXPECT_EQ(more_cpus(ranks, "mpirun (Open MPI)", environment).substr(0, 23),
            "mpirun --bind-to none, ");
}

}  // namespace
}  // namespace ccl_tests
