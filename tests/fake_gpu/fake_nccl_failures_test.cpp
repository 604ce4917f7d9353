// The stand-in for NCCL: what it refuses, and how it fails when told to.
#include "tests/fake_gpu/testing.hpp"

namespace fake_gpu_test {
namespace {

class FakeNcclFailures : public FakeGpu {};

ncclResult_t add(const Rank& r, const Buffer<int>& buffer, std::size_t count = 4) {
  return ncclAllReduce(buffer.at(), buffer.at(), count, ncclInt32, ncclSum, r.comm, r.stream);
}

// The stream is free again afterwards.
void abort(Rank& r) {
  EXPECT_EQ(ncclCommAbort(r.comm), ncclSuccess);
  r.comm = nullptr;
  r.wait();
}

TEST_F(FakeNcclFailures, AHangEndsByAbort) {
  const Variable variable("FAKE_NCCL_HANG", "1:2");
  run_threads(3, [](Rank& r) {
    const Buffer<int> buffer(4);
    EXPECT_EQ(add(r, buffer), 0);
    r.wait();
    EXPECT_EQ(add(r, buffer), 0);
    EXPECT_EQ(add(r, buffer), 0);
    EXPECT_FALSE(r.quiet());
    EXPECT_EQ(r.error(), ncclSuccess);
    abort(r);
  });
}

TEST_F(FakeNcclFailures, AFailureIsTheRanksOwn) {
  const Variable variable("FAKE_NCCL_FAIL", "2:1");
  run_threads(3, [](Rank& r) {
    const Buffer<int> buffer(4);
    EXPECT_EQ(add(r, buffer), 0);
    if (r.rank == 2) {
      EXPECT_EQ(r.next_error(), ncclRemoteError);
      EXPECT_EQ(add(r, buffer), ncclRemoteError);
    }
    EXPECT_FALSE(r.quiet());
    abort(r);
  });
}

TEST_F(FakeNcclFailures, OneBitIsFlipped) {
  const Variable variable("FAKE_NCCL_CORRUPT", "1:2");
  run_threads(3, [](Rank& r) {
    const Buffer<int> first(std::vector<int>{1, 1, 1, 1});
    const Buffer<int> second(std::vector<int>{1, 1, 1, 1});
    EXPECT_EQ(add(r, first), 0);
    EXPECT_EQ(add(r, second), 0);
    r.wait();
    EXPECT_EQ(first.values(), (std::vector<int>{3, 3, 3, 3}));
    EXPECT_EQ(second.values(), (std::vector<int>{3, 3, r.rank == 1 ? 2 : 3, 3}));
  });
}

TEST_F(FakeNcclFailures, SeveralStreamsCannotOvertake) {
  run_threads(3, [](Rank& r) {
    const Buffer<int> buffer(std::vector<int>{1, 1, 1, 1});
    const Stream other;
    Gate gate(r.stream);
    EXPECT_EQ(add(r, buffer), 0);
    EXPECT_EQ(ncclBcast(buffer.at(), 4, ncclInt32, 2, r.comm, other), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
    gate.open();
    EXPECT_EQ(cudaStreamSynchronize(other), 0);
    EXPECT_EQ(buffer.values(), (std::vector<int>{3, 3, 3, 3}));
  });
}

TEST_F(FakeNcclFailures, DifferentCallsAreNamed) {
  run_threads(3, [](Rank& r) {
    const Buffer<int> buffer(4);
    EXPECT_EQ(add(r, buffer, r.rank == 1 ? 3 : 4), 0);
    EXPECT_EQ(r.next_error(), ncclInvalidUsage);
    EXPECT_STREQ(ncclGetLastError(r.comm),
                 "collective operation 1: rank 0 calls AllReduce of 4 int32, operation 0, rank 1 "
                 "AllReduce of 3 int32, operation 0");
    abort(r);
  });
}

TEST_F(FakeNcclFailures, AMessageThatMeetsACollectiveIsNamed) {
  run_threads(3, [](Rank& r) {
    const Buffer<int> buffer(4);
    if (r.rank == 2) {
      EXPECT_EQ(ncclRecv(buffer.at(), 4, ncclInt32, 0, r.comm, r.stream), 0);
    } else if (r.rank == 0) {
      EXPECT_EQ(add(r, buffer), 0);
    }
    EXPECT_EQ(r.next_error(), ncclInvalidUsage);
    EXPECT_STREQ(ncclGetLastError(r.comm), "rank 2 calls Recv with rank 0, which calls AllReduce");
    abort(r);
  });
}

TEST_F(FakeNcclFailures, BuffersAndArgumentsAreChecked) {
  run_threads(1, [](Rank& r) {
    const Buffer<int> buffer(4);
    int host[4] = {};
    EXPECT_EQ(ncclAllReduce(host, buffer.at(), 4, ncclInt32, ncclSum, r.comm, r.stream),
              ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr),
                 "sendbuff is not memory of device 0, which the communicator uses");
    EXPECT_EQ(cudaSetDevice(1), 0);
    const Buffer<int> elsewhere(4);
    EXPECT_EQ(add(r, elsewhere), ncclInvalidArgument);
    const Stream foreign;
    EXPECT_EQ(ncclAllReduce(buffer.at(), buffer.at(), 4, ncclInt32, ncclSum, r.comm, foreign),
              ncclInvalidArgument);
    EXPECT_EQ(ncclBcast(buffer.at(), 4, ncclInt32, 1, r.comm, r.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclBcast(buffer.at(), 4, ncclNumTypes, 0, r.comm, r.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(buffer.at(), 4, ncclInt32, 0, r.comm, r.stream), ncclInvalidUsage);
    EXPECT_EQ(ncclGroupStart(), 0);
    EXPECT_EQ(ncclBcast(buffer.at(), 4, ncclInt32, 1, r.comm, r.stream), ncclInvalidArgument);
    EXPECT_EQ(add(r, buffer), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_EQ(ncclCommFinalize(r.comm), 0);
    EXPECT_EQ(add(r, buffer), ncclInvalidUsage);
    ncclComm_t gone = r.comm;
    abort(r);
    EXPECT_EQ(ncclCommAbort(gone), ncclInvalidArgument);
  });
}

TEST_F(FakeNcclFailures, MemoryIsRegistered) {
  run_threads(1, [](Rank& r) {
    void* at = nullptr;
    ASSERT_EQ(ncclMemAlloc(&at, 8192), 0);
    void* handle = nullptr;
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommRegister(r.comm, at, 8192, &handle), 0);
    EXPECT_EQ(ncclCommWindowRegister(r.comm, at, 8192, &window, NCCL_WIN_COLL_SYMMETRIC), 0);
    EXPECT_EQ(ncclCommWindowRegister(r.comm, static_cast<char*>(at) + 8, 8, &window, 0),
              ncclInvalidArgument);
    EXPECT_EQ(ncclCommDeregister(r.comm, handle), 0);
    EXPECT_EQ(ncclCommDeregister(r.comm, handle), ncclInvalidArgument);
    EXPECT_EQ(ncclMemFree(at), 0);
  });
}

// Rank 0 on device 0, ranks 1 and 2 on device 1.
void run_sharing(const std::function<void(int rank, const ncclUniqueId& id)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      EXPECT_EQ(cudaSetDevice(rank == 0 ? 0 : 1), 0);
      body(rank, id);
    });
  }
  for (auto& thread : threads) thread.join();
}

void expect_refusal(const std::string& message) {
  run_sharing([&](int rank, const ncclUniqueId& id) {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, 3, id, rank), ncclInvalidUsage);
    EXPECT_EQ(comm, nullptr);
    EXPECT_EQ(std::string(ncclGetLastError(nullptr)).substr(0, message.size()), message);
  });
}

TEST_F(FakeNcclFailures, TwoRanksOnOneDeviceAreRefused) {
  const std::string duplicate =
      "Duplicate GPU detected : rank 2 and rank 1 both on CUDA device 0000:0b:00.0";
  expect_refusal(duplicate);
  const Variable variable("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  expect_refusal(duplicate);  // before 2.30
  const Variable version("FAKE_NCCL_VERSION", "23007");
  const Variable nvls("NCCL_NVLS_ENABLE", "1");
  expect_refusal("NCCL_NVLS_ENABLE has been set");
}

TEST_F(FakeNcclFailures, RanksShareADeviceIfNccl230IsToldSo) {
  const Variable version("FAKE_NCCL_VERSION", "23007");
  expect_refusal("Multiple Ranks are using the same GPU/Partition.");
  const Variable variable("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  run_sharing([](int rank, const ncclUniqueId& id) {
    const Stream stream;
    const Buffer<int> buffer(std::vector<int>{1, 1, 1, 1});
    Rank r{rank, 3, nullptr, stream};
    ASSERT_EQ(ncclCommInitRank(&r.comm, 3, id, rank), 0) << ncclGetLastError(nullptr);
    EXPECT_EQ(add(r, buffer), 0);
    r.wait();
    EXPECT_EQ(buffer.values(), (std::vector<int>{3, 3, 3, 3}));
    EXPECT_EQ(ncclCommDestroy(r.comm), 0);
  });
}

TEST_F(FakeNcclFailures, AnUnfinishedInitEndsByAbort) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 3, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST_F(FakeNcclFailures, SmallFloatsNeedANewDevice) {
  EXPECT_EXIT(
      {
        setenv("FAKE_GPU_CAPABILITY", "8.9", 1);
        run_threads(1, [](Rank& r) {
          const Buffer<char> buffer(4);
          EXPECT_EQ(ncclBcast(buffer.at(), 4, ncclFloat8e4m3, 0, r.comm, r.stream),
                    ncclInvalidArgument);
          EXPECT_EQ(ncclBcast(buffer.at(), 2, ncclBfloat16, 0, r.comm, r.stream), 0);
        });
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(FakeNcclFailures, VersionIsTold) {
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), 0);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  const Variable variable("FAKE_NCCL_VERSION", "21805");
  EXPECT_EQ(ncclGetVersion(&version), 0);
  EXPECT_EQ(version, 21805);
}

}  // namespace
}  // namespace fake_gpu_test
