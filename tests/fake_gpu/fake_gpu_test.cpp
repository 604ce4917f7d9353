// The stand-in for the CUDA runtime: devices, memory, streams, events.
#include <numeric>

#include "tests/fake_gpu/testing.hpp"

namespace fake_gpu_test {
namespace {

void append(void* data) {
  auto& numbers = *static_cast<std::vector<int>*>(data);
  numbers.push_back(static_cast<int>(numbers.size()));
}

TEST_F(FakeGpu, CallsReturnAtOnceAndWorkRunsInOrder) {
  const Stream stream;
  std::vector<int> numbers;
  Gate gate(stream);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cudaLaunchHostFunc(stream, &append, &numbers), 0);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(cudaStreamQuery(stream), 0);
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(numbers, expected);
}

TEST_F(FakeGpu, CallsOnStreamThreadsAreRefused) {
  const Stream stream;
  cudaError_t found = cudaSuccess;
  const auto ask = [](void* into) {
    int device = 0;
    *static_cast<cudaError_t*>(into) = cudaGetDevice(&device);
  };
  EXPECT_EQ(cudaLaunchHostFunc(stream, ask, &found), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(found, cudaErrorNotPermitted);
}

TEST_F(FakeGpu, BlockingStreamsAreOrderedWithTheNullStream) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault), 0);
  const Stream other;
  Gate gate(nullptr);
  std::vector<int> later;
  EXPECT_EQ(cudaLaunchHostFunc(blocking, &append, &later), 0);
  std::vector<int> now;
  EXPECT_EQ(cudaLaunchHostFunc(other, &append, &now), 0);
  EXPECT_EQ(cudaStreamSynchronize(other), 0);
  EXPECT_EQ(now.size(), 1U);
  EXPECT_EQ(cudaStreamQuery(blocking), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(later.size(), 1U);
  EXPECT_EQ(cudaStreamDestroy(blocking), 0);
}

TEST_F(FakeGpu, NewMemoryIsPoisonedAndAccounted) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), 0);
  EXPECT_EQ(total, std::size_t{1} << 30);
  void* at = nullptr;
  ASSERT_EQ(cudaMalloc(&at, 1000), 0);
  unsigned char bytes[1000] = {};
  EXPECT_EQ(cudaMemcpy(bytes, at, sizeof bytes, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(bytes[0], 0xcd);
  EXPECT_EQ(bytes[999], 0xcd);
  std::size_t during = 0;
  EXPECT_EQ(cudaMemGetInfo(&during, &total), 0);
  EXPECT_EQ(before - during, 1024U);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, during + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFree(static_cast<char*>(at) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(at), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(at), 0);
  EXPECT_EQ(cudaFree(at), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetInfo(&during, &total), 0);
  EXPECT_EQ(before, during);
}

TEST_F(FakeGpu, TheHostCannotTouchDeviceMemory) {
  EXPECT_DEATH(
      {
        const Buffer<int> buffer(std::vector<int>{1, 2, 3});
        const int value = *static_cast<volatile int*>(buffer.at());
        std::exit(value == 1 ? 0 : 1);
      },
      "");
}

TEST_F(FakeGpu, KindsOfCopiesAreChecked) {
  const Buffer<int> device(std::vector<int>{1, 2, 3});
  const Buffer<int> other(3);
  int host[3] = {};
  EXPECT_EQ(cudaMemcpy(host, device.at(), 12, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device.at(), 12, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.at(), host, 12, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device.at(), 16, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(other.at(), device.at(), 12, cudaMemcpyDeviceToDevice), 0);
  EXPECT_EQ(other.values(), (std::vector<int>{1, 2, 3}));
}

TEST_F(FakeGpu, PinnedCopiesAreAsynchronousAndPageableSourcesAreStaged) {
  const Stream stream;
  const Buffer<int> device(4);
  int* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned), 8), 0);
  int pageable[2] = {5, 6};
  Gate gate(stream);
  pinned[0] = pinned[1] = 1;
  EXPECT_EQ(cudaMemcpyAsync(device.at(), pinned, 8, cudaMemcpyHostToDevice, stream), 0);
  EXPECT_EQ(cudaMemcpyAsync(device.at(2), pageable, 8, cudaMemcpyHostToDevice, stream), 0);
  pinned[0] = pinned[1] = 3;
  pageable[0] = pageable[1] = 0;
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(device.values(), (std::vector<int>{3, 3, 5, 6}));
  EXPECT_EQ(cudaMemcpy2DAsync(device.at(), 8, device.at(1), 8, 4, 2, cudaMemcpyDefault, stream), 0);
  EXPECT_EQ(cudaMemsetAsync(device.at(1), 0, 4, stream), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(device.values(), (std::vector<int>{3, 0, 6, 6}));
  EXPECT_EQ(cudaFreeHost(pinned), 0);
}

TEST_F(FakeGpu, TakingMemoryWaitsForPeers) {
  ASSERT_EQ(cudaDeviceEnablePeerAccess(3, 0), 0);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(3, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  const Stream stream;
  Gate gate(stream);
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (const int device : {2, 3}) {
    threads.emplace_back([device, &taken] {
      ASSERT_EQ(cudaSetDevice(device), 0);
      const Buffer<int> buffer(1);
      ++taken;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(taken, 1) << "by a device that is no peer";
  gate.open();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(3), 0);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(3), cudaErrorPeerAccessNotEnabled);
}

TEST_F(FakeGpu, PointersKnowTheirDevice) {
  ASSERT_EQ(cudaSetDevice(2), 0);
  const Buffer<int> buffer(4);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, buffer.at(3)), 0);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 2);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), 0);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  ASSERT_EQ(cudaSetDevice(0), 0);
}

TEST_F(FakeGpu, EventsMeasureAndOrderStreams) {
  const Stream first;
  const Stream second;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), 0);
  ASSERT_EQ(cudaEventCreate(&end), 0);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(end), 0);
  EXPECT_EQ(cudaEventRecord(start, first), 0);
  Gate gate(first);
  EXPECT_EQ(cudaEventRecord(end, first), 0);
  EXPECT_EQ(cudaStreamWaitEvent(second, end, 0), 0);
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(start), 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(second), 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, end), 0);
  EXPECT_GE(ms, 20);
  EXPECT_EQ(cudaEventDestroy(start), 0);
  EXPECT_EQ(cudaEventRecord(start, first), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaSetDevice(1), 0);
  const Stream elsewhere;
  EXPECT_EQ(cudaEventRecord(end, elsewhere), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaSetDevice(0), 0);
  EXPECT_EQ(cudaEventDestroy(end), 0);
}

TEST_F(FakeGpu, DestroyedStreamsAreRecognisedAndFinishTheirWork) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1), 0);
  std::vector<int> numbers;
  const Stream after;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), 0);
  EXPECT_EQ(cudaLaunchHostFunc(stream, &append, &numbers), 0);
  EXPECT_EQ(cudaEventRecord(event, stream), 0);
  EXPECT_EQ(cudaStreamDestroy(stream), 0);
  EXPECT_EQ(cudaEventSynchronize(event), 0);
  EXPECT_EQ(numbers.size(), 1U);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), 0);
}

TEST_F(FakeGpu, EnvironmentSaysWhatDevicesThereAre) {
  EXPECT_EXIT(
      {
        setenv("FAKE_GPUS", "4", 1);
        setenv("FAKE_GPU_MEMORY", "65536", 1);
        setenv("FAKE_GPU_CAPABILITY", "8.6", 1);
        setenv("CUDA_VISIBLE_DEVICES", "3,1,7,0", 1);
        int count = 0;
        cudaDeviceProp prop;
        char bus[16];
        const bool right = cudaGetDeviceCount(&count) == 0 && count == 2 &&
                           cudaGetDeviceProperties(&prop, 0) == 0 && prop.major == 8 &&
                           prop.minor == 6 && prop.totalGlobalMem == 65536 &&
                           cudaDeviceGetPCIBusId(bus, sizeof bus, 0) == 0 &&
                           std::string(bus) == "0000:0d:00.0" && cudaSetDevice(2) == 101;
        std::exit(right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        int count = 7;
        std::exit(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(FakeGpu, EnvironmentMakesEverythingFail) {
  const Variable variable("FAKE_GPU_ERROR", "35");
  int count = 7;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  void* at = nullptr;
  EXPECT_EQ(cudaMalloc(&at, 8), cudaErrorInsufficientDriver);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorInsufficientDriver");
  int version = 0;
  EXPECT_EQ(cudaDriverGetVersion(&version), 0);
  EXPECT_LT(version, CUDART_VERSION);
}

TEST_F(FakeGpu, AProcessMayEndWithWorkPending) {
  EXPECT_EXIT(
      {
        const Stream stream;
        auto* const gate = new Gate(stream);
        void* at = nullptr;
        cudaMalloc(&at, 8);
        cudaMemsetAsync(at, 0, 8, stream);
        std::exit(gate == nullptr ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fake_gpu_test
