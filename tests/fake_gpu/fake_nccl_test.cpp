// The stand-in for NCCL: what operations do.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake_gpu/testing.hpp"

namespace fake_gpu_test {
namespace {

using Values = std::vector<int>;

// Element i of a rank's input.
int input(int rank, int i) { return 1000 * rank + i; }

Values inputs(int rank, int count) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(input(rank, i));
  return values;
}

int sum(int ranks, int i) {
  int total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += input(rank, i);
  return total;
}

// For a rank's output where `expected(i)` is element i.
void expect(const Buffer<int>& buffer, const std::function<int(int)>& expected) {
  const Values values = buffer.values();
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], expected(i)) << "at " << i;
  }
}

constexpr int block = 5;

void reductions(Rank& r) {
  const auto n = static_cast<std::size_t>(r.ranks);
  const Buffer<int> send(inputs(r.rank, r.ranks * block));
  const Buffer<int> all(n * block);
  EXPECT_EQ(ncclAllReduce(send.at(), all.at(), n * block, ncclInt32, ncclSum, r.comm, r.stream), 0);
  const Buffer<int> part(block);
  EXPECT_EQ(ncclReduceScatter(send.at(), part.at(), block, ncclInt32, ncclSum, r.comm, r.stream),
            0);
  const Buffer<int> rooted(n * block);
  const int root = r.ranks - 1;
  EXPECT_EQ(
      ncclReduce(send.at(), rooted.at(), n * block, ncclInt32, ncclMax, root, r.comm, r.stream), 0);
  r.wait();
  expect(all, [&](int i) { return sum(r.ranks, i); });
  expect(part, [&](int i) { return sum(r.ranks, r.rank * block + i); });
  expect(rooted, [&](int i) { return r.rank == root ? input(root, i) : 77; });
  // In place.
  EXPECT_EQ(ncclAllReduce(send.at(), send.at(), n * block, ncclInt32, ncclAvg, r.comm, r.stream),
            0);
  r.wait();
  expect(send, [&](int i) { return sum(r.ranks, i) / r.ranks; });
}

void movements(Rank& r) {
  const auto n = static_cast<std::size_t>(r.ranks);
  const int root = r.ranks / 2;
  const bool at_root = r.rank == root;
  const Buffer<int> send(inputs(r.rank, r.ranks * block));
  const Buffer<int> broadcast(block);
  const Buffer<int> all(n * block);
  const Buffer<int> exchanged(n * block);
  const Buffer<int> gathered(n * block);
  const Buffer<int> scattered(block);
  const int* const from_root = at_root ? send.at() : nullptr;
  EXPECT_EQ(ncclBroadcast(from_root, broadcast.at(), block, ncclInt32, root, r.comm, r.stream), 0);
  EXPECT_EQ(ncclAllGather(send.at(), all.at(), block, ncclInt32, r.comm, r.stream), 0);
  EXPECT_EQ(ncclAlltoAll(send.at(), exchanged.at(), block, ncclInt32, r.comm, r.stream), 0);
  EXPECT_EQ(ncclGather(send.at(), gathered.at(), block, ncclInt32, root, r.comm, r.stream), 0);
  EXPECT_EQ(ncclScatter(from_root, scattered.at(), block, ncclInt32, root, r.comm, r.stream), 0);
  r.wait();
  expect(broadcast, [&](int i) { return input(root, i); });
  expect(all, [&](int i) { return input(i / block, i % block); });
  expect(exchanged, [&](int i) { return input(i / block, r.rank * block + i % block); });
  expect(gathered, [&](int i) { return at_root ? input(i / block, i % block) : 77; });
  expect(scattered, [&](int i) { return input(root, r.rank * block + i); });
}

// A ring, and a message to the rank itself, in one group; then one pair without.
void messages(Rank& r) {
  const int next = (r.rank + 1) % r.ranks;
  const int previous = (r.rank + r.ranks - 1) % r.ranks;
  const Buffer<int> send(inputs(r.rank, block));
  const Buffer<int> ring(block);
  const Buffer<int> self(block);
  EXPECT_EQ(ncclGroupStart(), 0);
  EXPECT_EQ(ncclSend(send.at(), block, ncclInt32, next, r.comm, r.stream), 0);
  EXPECT_EQ(ncclSend(send.at(), block, ncclInt32, r.rank, r.comm, r.stream), 0);
  EXPECT_EQ(ncclRecv(ring.at(), block, ncclInt32, previous, r.comm, r.stream), 0);
  EXPECT_EQ(ncclRecv(self.at(), block, ncclInt32, r.rank, r.comm, r.stream), 0);
  EXPECT_EQ(cudaStreamQuery(r.stream), 0);
  EXPECT_EQ(ncclGroupEnd(), 0);
  r.wait();
  expect(ring, [&](int i) { return input(previous, i); });
  expect(self, [&](int i) { return input(r.rank, i); });
  if (r.ranks == 1) return;
  if (r.rank == 0) {
    EXPECT_EQ(ncclSend(send.at(), block, ncclInt32, r.ranks - 1, r.comm, r.stream), 0);
  } else if (r.rank == r.ranks - 1) {
    EXPECT_EQ(ncclRecv(ring.at(), block, ncclInt32, 0, r.comm, r.stream), 0);
  }
  r.wait();
  if (r.rank == r.ranks - 1) expect(ring, [&](int i) { return input(0, i); });
}

void everything(Rank& r) {
  reductions(r);
  movements(r);
  messages(r);
}

class FakeNccl : public FakeGpu {};
class FakeNcclRanks : public FakeGpu, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, FakeNcclRanks, ::testing::Values(1, 3, 4));

TEST_P(FakeNcclRanks, Reductions) { run_threads(GetParam(), reductions); }
TEST_P(FakeNcclRanks, Movements) { run_threads(GetParam(), movements); }
TEST_P(FakeNcclRanks, Messages) { run_threads(GetParam(), messages); }

TEST_P(FakeNcclRanks, ScaledSums) {
  run_threads(GetParam(), [](Rank& r) {
    const Buffer<float> buffer(std::vector<float>{1, 2, 3});
    float factor = 0.5F * static_cast<float>(r.rank + 1);
    ncclRedOp_t op = ncclSum;
    ASSERT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, r.comm),
              0);
    EXPECT_EQ(ncclAllReduce(buffer.at(), buffer.at(), 3, ncclFloat32, op, r.comm, r.stream), 0);
    EXPECT_EQ(ncclAllReduce(buffer.at(), buffer.at(), 3, ncclInt32, op, r.comm, r.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(op, r.comm), 0);
    EXPECT_EQ(ncclRedOpDestroy(op, r.comm), ncclInvalidArgument);
    r.wait();
    const float all = 0.25F * static_cast<float>(r.ranks * (r.ranks + 1));
    EXPECT_EQ(buffer.values(), (std::vector<float>{all, 2 * all, 3 * all}));
  });
}

TEST_P(FakeNcclRanks, GraphsReplay) {
  run_threads(GetParam(), [](Rank& r) {
    const Buffer<int> buffer(Values{r.rank + 1});
    EXPECT_EQ(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal), 0);
    EXPECT_EQ(ncclAllReduce(buffer.at(), buffer.at(), 1, ncclInt32, ncclSum, r.comm, r.stream), 0);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(r.stream, &graph), 0);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(executable, r.stream), 0);
    r.wait();
    EXPECT_EQ(buffer.values()[0], r.ranks * (r.ranks + 1) / 2 * r.ranks * r.ranks);
    EXPECT_EQ(cudaGraphExecDestroy(executable), 0);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
  });
}

TEST_P(FakeNcclRanks, Splits) {
  run_threads(GetParam(), [](Rank& r) {
    // Odd and even ranks, each in descending order; rank 3 in none.
    Rank part = r;
    const int color = r.rank == 3 ? NCCL_SPLIT_NOCOLOR : r.rank % 2;
    ASSERT_EQ(ncclCommSplit(r.comm, color, -r.rank, &part.comm, nullptr), 0);
    if (color == NCCL_SPLIT_NOCOLOR) {
      EXPECT_EQ(part.comm, nullptr);
      return;
    }
    EXPECT_EQ(ncclCommCount(part.comm, &part.ranks), 0);
    EXPECT_EQ(ncclCommUserRank(part.comm, &part.rank), 0);
    EXPECT_EQ(part.ranks, color == 1 ? 1 : (r.ranks + 1) / 2);
    EXPECT_EQ(part.rank, part.ranks - 1 - r.rank / 2);
    everything(part);
    EXPECT_EQ(ncclCommFinalize(part.comm), 0);
    EXPECT_EQ(ncclCommDestroy(part.comm), 0);
  });
}

TEST_P(FakeNcclRanks, NonBlockingCommunicators) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  const auto poll = [](Rank& r) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) state = r.error();
    EXPECT_EQ(state, ncclSuccess);
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < GetParam(); ++rank) {
    threads.emplace_back([&, rank] {
      ASSERT_EQ(cudaSetDevice(rank), 0);
      const Stream stream;
      Rank r{rank, GetParam(), nullptr, stream};
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      EXPECT_EQ(ncclCommInitRankConfig(&r.comm, r.ranks, id, rank, &config), ncclInProgress);
      poll(r);
      const Buffer<int> buffer(Values{1});
      const auto add = [&] {
        return ncclAllReduce(buffer.at(), buffer.at(), 1, ncclInt32, ncclSum, r.comm, stream);
      };
      EXPECT_EQ(add(), ncclInProgress);
      EXPECT_EQ(add(), ncclInvalidArgument);
      poll(r);
      EXPECT_EQ(add(), ncclSuccess);
      r.wait();
      EXPECT_EQ(buffer.values()[0], r.ranks * r.ranks);
      EXPECT_EQ(ncclCommFinalize(r.comm), ncclInProgress);
      poll(r);
      EXPECT_EQ(ncclCommDestroy(r.comm), 0);
    });
  }
  for (auto& thread : threads) thread.join();
}

// Elements at the end of 131074 that an average leaves as they were.
int unwritten_by_one_rank(const char* version, ncclRedOp_t op) {
  const Variable variable("FAKE_NCCL_VERSION", version);
  constexpr std::size_t count = (1 << 17) + 2;
  int unwritten = 0;
  run_threads(1, [&](Rank& r) {
    const Buffer<float> send(std::vector<float>(count, 5));
    const Buffer<float> recv(count);
    EXPECT_EQ(ncclAllReduce(send.at(), recv.at(), count, ncclFloat, op, r.comm, r.stream), 0);
    r.wait();
    for (const float value : recv.values()) unwritten += value == 5 ? 0 : 1;
  });
  return unwritten;
}

TEST_F(FakeNccl, OneRankLeavesATailUnwrittenAsNcclUpTo228Does) {
  EXPECT_EQ(unwritten_by_one_rank("22809", ncclAvg), 2);
  EXPECT_EQ(unwritten_by_one_rank("22809", ncclSum), 0);
  EXPECT_EQ(unwritten_by_one_rank("22907", ncclAvg), 0);
}

TEST_F(FakeNccl, OneThreadServesAllRanksInGroups) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  ncclComm_t comms[3] = {};
  ASSERT_EQ(ncclGroupStart(), 0);
  for (int rank = 0; rank < 3; ++rank) {
    ASSERT_EQ(cudaSetDevice(rank), 0);
    ASSERT_EQ(ncclCommInitRank(&comms[rank], 3, id, rank), 0);
  }
  ASSERT_EQ(ncclGroupEnd(), 0) << ncclGetLastError(nullptr);
  for (const auto comm : comms) EXPECT_EQ(ncclCommDestroy(comm), 0);
  ASSERT_EQ(cudaSetDevice(0), 0);
}

TEST_F(FakeNccl, RanksMayBeProcesses) {
  EXPECT_EXIT(
      {
        ncclUniqueId id;
        ncclGetUniqueId(&id);
        for (int rank = 0; rank < 3; ++rank) {
          if (fork() == 0) {
            run_rank(id, rank, 3, everything);
            _exit(::testing::Test::HasFailure() ? 1 : 0);
          }
        }
        int failures = 0;
        for (int rank = 0; rank < 3; ++rank) {
          int status = 0;
          wait(&status);
          failures += status == 0 ? 0 : 1;
        }
        std::exit(failures);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fake_gpu_test
