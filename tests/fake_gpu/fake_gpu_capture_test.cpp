// The stand-in for the CUDA runtime: capture and graphs.
#include "tests/fake_gpu/testing.hpp"

namespace fake_gpu_test {
namespace {

void count(void* data) { ++*static_cast<int*>(data); }

class Capture : public FakeGpu {
 protected:
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), 0);
  }
  cudaError_t end() { return cudaStreamEndCapture(stream, &graph); }
  void launch(int times) {
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
    EXPECT_EQ(cudaGraphUpload(executable, stream), 0);
    for (int i = 0; i < times; ++i) EXPECT_EQ(cudaGraphLaunch(executable, stream), 0);
    EXPECT_EQ(cudaGraphExecDestroy(executable), 0);
    EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  }

  const Stream stream;
  cudaGraph_t graph = nullptr;
  int calls = 0;
};

TEST_F(Capture, RunsWhatWasCapturedWhenLaunched) {
  const Buffer<unsigned char> buffer(8);
  begin();
  EXPECT_EQ(cudaLaunchHostFunc(stream, &count, &calls), 0);
  EXPECT_EQ(cudaMemsetAsync(buffer.at(), 5, 4, stream), 0);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), 0);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(end(), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(buffer.values()[0], 77);
  launch(3);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(buffer.values()[3], 5);
  EXPECT_EQ(buffer.values()[4], 77);
}

TEST_F(Capture, SynchronizingInvalidates) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaLaunchHostFunc(stream, &count, &calls), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
}

TEST_F(Capture, GlobalModeForbidsUnsafeCallsOfOtherThreads) {
  begin(cudaStreamCaptureModeGlobal);
  std::thread([] {
    void* at = nullptr;
    EXPECT_EQ(cudaMalloc(&at, 8), cudaErrorStreamCaptureUnsupported);
  }).join();
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  begin();
  std::thread([] { const Buffer<int> fine(2); }).join();
  EXPECT_EQ(end(), 0);
}

TEST_F(Capture, OnlyExternalEventsAreTimed) {
  cudaEvent_t plain = nullptr;
  cudaEvent_t first = nullptr;
  cudaEvent_t second = nullptr;
  for (auto* const event : {&plain, &first, &second}) ASSERT_EQ(cudaEventCreate(event), 0);
  EXPECT_EQ(cudaEventRecordWithFlags(first, stream, cudaEventRecordExternal),
            cudaErrorInvalidValue);
  begin();
  EXPECT_EQ(cudaEventRecordWithFlags(first, stream, cudaEventRecordExternal), 0);
  EXPECT_EQ(cudaEventRecord(plain, stream), 0);
  EXPECT_EQ(cudaEventRecordWithFlags(second, stream, cudaEventRecordExternal), 0);
  ASSERT_EQ(end(), 0);
  launch(2);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, first, second), 0);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, first, plain), cudaErrorCapturedEvent);
  for (auto* const event : {plain, first, second}) EXPECT_EQ(cudaEventDestroy(event), 0);
}

TEST_F(Capture, OtherStreamsJoinByEventsAndMustReturn) {
  const Stream other;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), 0);
  for (const bool joins : {false, true}) {
    begin();
    EXPECT_EQ(cudaEventRecord(event, stream), 0);
    EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), 0);
    EXPECT_EQ(cudaLaunchHostFunc(other, &count, &calls), 0);
    if (joins) {
      EXPECT_EQ(cudaEventRecord(event, other), 0);
      EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), 0);
    }
    EXPECT_EQ(end(), joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
  }
  launch(2);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cudaEventDestroy(event), 0);
}

}  // namespace
}  // namespace fake_gpu_test
