// What the header says of where the ranks are, and which lines of a library concern a run.
#include "src/run/run_header.hpp"

#include <gtest/gtest.h>

#include "collectives/collectives.hpp"

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

}  // namespace
}  // namespace ccl_tests
