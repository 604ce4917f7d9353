// What the header says of where the ranks are, and which lines of a library concern a run.
#include "src/run/run_header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "collectives/collectives.hpp"
#include "src/run/rank_facts.hpp"

namespace ccl_tests {
namespace {

RankIdentity on(const char* host, const char* machine) {
  return {host, machine, {}, 0, 0, {}, 0, {}, {}};
}

TEST(PlacementOfRanks, SaysThreadsProcessesAndHosts) {
  EXPECT_EQ(placement({on("a", "1")}, 1), "1 process on 1 host");
  EXPECT_EQ(placement({on("a", "1"), on("a", "1")}, 1), "2 threads of 1 process on 1 host");
  EXPECT_EQ(placement({on("a", "1"), on("b", "2")}, 2), "2 processes on 2 hosts, 1 on each");
  EXPECT_EQ(placement({on("a", "1"), on("b", "2"), on("a", "1")}, 3),
            "3 processes on 2 hosts, 1 to 2 on each");
  EXPECT_EQ(placement({4, on("a", "1")}, 2), "4 threads of 2 processes on 1 host");
}

TEST(PlacementOfRanks, ContainersOfOneMachineAndMachinesOfOneNameAreHostsOfTheirOwn) {
  EXPECT_EQ(placement({on("a", "1"), on("b", "1"), on("a", "2")}, 3),
            "3 processes on 3 hosts, 1 on each");
}

TEST(KindOfALine, IsANoteIfItsSubjectIsTheProgramOrATypeOrOperationOfTheRun) {
  using namespace collectives;
  const std::vector<Kind> sum = {{DataType::float32, ReduceOp::sum}};
  const std::vector<Kind> avg = {{DataType::float32, ReduceOp::avg}};
  const std::vector<Kind> half = {{DataType::half, ReduceOp::sum}};
  const char* const composed = "avg and mulsum are composed: sum, then divide; multiply, then sum";
  EXPECT_EQ(kind_of(composed, all_reduce, sum), NoteKind::verbose);
  EXPECT_EQ(kind_of(composed, all_reduce, avg), NoteKind::note);
  const char* const algorithm = "all_reduce algorithm: Gloo's choice (ring)";
  EXPECT_EQ(kind_of(algorithm, all_reduce, sum), NoteKind::note);
  EXPECT_EQ(kind_of(algorithm, all_gather, sum), NoteKind::verbose);
  const char* const ring = "reduce_scatter, reduce_scatterv: a ring over send and recv";
  EXPECT_EQ(kind_of(ring, reduce_scatter, sum), NoteKind::note);
  EXPECT_EQ(kind_of(ring, reduce, sum), NoteKind::verbose);
  const char* const types = "half, bfloat16, f8e4m3 and f8e5m2 have no MPI type: the suite's are";
  EXPECT_EQ(kind_of(types, all_reduce, half), NoteKind::note);
  EXPECT_EQ(kind_of(types, all_reduce, sum), NoteKind::verbose);
  EXPECT_EQ(kind_of("buffers in host memory, staged: every operation is a copy", all_reduce, sum),
            NoteKind::note);
  EXPECT_EQ(kind_of("--share-gpus: ranks share a GPU: times mean nothing", all_reduce, sum),
            NoteKind::note);
}

TEST(RankDifferences, NameEachValueAndWhoseItIs) {
  const RankFacts usual = {{"CPUs", "0-3"}, {"kernel", "6.1"}};
  RankFacts other = usual;
  other["NCCL_ALGO"] = "Ring";
  EXPECT_TRUE(differences({usual}).empty());
  EXPECT_TRUE(differences({3, usual}).empty());
  EXPECT_EQ(differences({other, usual, usual}),
            std::vector<std::string>{"NCCL_ALGO: rank 0: Ring, ranks 1-2: not set"});
  other["CPUs"] = "7";
  EXPECT_EQ(differences({usual, other, usual, usual}),
            (std::vector<std::string>{"CPUs: ranks 0,2-3: 0-3, rank 1: 7",
                                      "NCCL_ALGO: ranks 0,2-3: not set, rank 1: Ring"}));
  std::vector<RankFacts> many;
  for (int rank = 0; rank < 20; ++rank) many.push_back({{"CPUs", std::to_string(rank)}});
  EXPECT_TRUE(differences(many).at(0).ends_with("rank 7: 7, ..."));
}

TEST(RecordedEnvironment, HasEverySettingOfALibraryAndNothingThatMpirunTellsItself) {
  const auto has = [](const char* name, bool by_np = true) {
    setenv(name, "x", 1);
    const std::vector<std::string> all = recorded_environment(by_np);
    unsetenv(name);
    return std::find(all.begin(), all.end(), std::string(name) + "=x") != all.end();
  };
  for (const char* name : {"NCCL_ALGO", "NCCL_NEVER_HEARD_OF", "OMPI_MCA_btl", "UCX_TLS",
                           "MPIR_CVAR_CH4_NETMOD", "FI_PROVIDER", "LD_PRELOAD_NEVER_READ"})
    EXPECT_TRUE(has(name)) << name;
  for (const char* name : {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess_base_vpid", "MV2_COMM_WORLD_RANK",
                           "CCL_JOB_SECRET", "HOME_OF_MINE"})
    EXPECT_FALSE(has(name)) << name;
  EXPECT_FALSE(has("MASTER_PORT"));
  EXPECT_TRUE(has("MASTER_PORT", false));
}

}  // namespace
}  // namespace ccl_tests
