// What the tests of the stand-ins share.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace fake_gpu_test {

// Four devices. The variable is read at a process's first call. Ranks of one process do not reach each
// other's memory, since tests take memory while peers' operations wait.
class FakeGpu : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("FAKE_GPUS", "4", 1);
    setenv("NCCL_P2P_DISABLE", "1", 1);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Holds a stream up until it is opened.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) { EXPECT_EQ(cudaLaunchHostFunc(stream, &wait, this), 0); }
  void open() { open_ = true; }

 private:
  static void wait(void* self) {
    while (!static_cast<Gate*>(self)->open_) std::this_thread::yield();
  }
  std::atomic<bool> open_ = false;
};

class Stream {
 public:
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), 0); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Device memory with a copy of `values`.
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : size_(values.size()) {
    EXPECT_EQ(cudaMalloc(&at_, bytes()), 0);
    EXPECT_EQ(cudaMemcpy(at_, values.data(), bytes(), cudaMemcpyHostToDevice), 0);
  }
  explicit Buffer(std::size_t size) : Buffer(std::vector<T>(size, T{77})) {}
  ~Buffer() { cudaFree(at_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* at(std::size_t element = 0) const { return static_cast<T*>(at_) + element; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> copy(size_);
    EXPECT_EQ(cudaMemcpy(copy.data(), at_, bytes(), cudaMemcpyDefault), 0);
    return copy;
  }

 private:
  std::size_t size_;
  void* at_ = nullptr;
};

// One rank on device `rank`.
struct Rank {
  int rank = 0, ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream), 0); }
  ncclResult_t error() const {
    ncclResult_t error = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    return error;
  }
  // The first error that is none of progress.
  ncclResult_t next_error() const {
    ncclResult_t found = ncclSuccess;
    for (int i = 0; found == ncclSuccess && i < 20000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      found = error();
    }
    return found;
  }
  bool quiet() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return cudaStreamQuery(stream) == cudaSuccess;
  }
};

inline void run_rank(const ncclUniqueId& id, int rank, int ranks,
                     const std::function<void(Rank&)>& body) {
  ASSERT_EQ(cudaSetDevice(rank), 0);
  const Stream stream;
  Rank self{rank, ranks, nullptr, stream};
  ASSERT_EQ(ncclCommInitRank(&self.comm, ranks, id, rank), ncclSuccess)
      << ncclGetLastError(nullptr);
  body(self);
  EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);  // NULL where the body gave it up
}

// Each rank on a thread of its own.
inline void run_threads(int ranks, const std::function<void(Rank&)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { run_rank(id, rank, ranks, body); });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace fake_gpu_test
