// A stream: a thread that runs what is submitted, in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "tests/fake_gpu/cuda_memory.hpp"

namespace fake_gpu {

using Task = std::function<void()>;

struct Capture;

class Stream {
 public:
  // blocking: ordered with the device's NULL stream, as streams without cudaStreamNonBlocking are.
  Stream(Memory& memory, int device, bool blocking);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  bool blocking() const { return blocking_; }

  // Tickets are positions in the stream: done(submitted()) when all of it has run.
  std::uint64_t submit(Task task) const;
  std::uint64_t submitted() const;
  bool done(std::uint64_t ticket) const;
  void wait(std::uint64_t ticket) const;
  bool wait_for(std::uint64_t ticket, std::chrono::microseconds limit) const;  // whether done

  // What the stream is capturing into; guarded by Runtime::mutex.
  std::shared_ptr<Capture> capture;

 private:
  // The thread's own share: it outlives the stream until the queue is empty.
  struct Queue {
    explicit Queue(Memory& device_memory) : memory(device_memory) {}
    void work();

    Memory& memory;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    std::uint64_t submitted = 0, finished = 0;
    bool started = false, closed = false;
  };

  const int device_;
  const bool blocking_;
  std::shared_ptr<Queue> queue_;
};

// True on the threads of streams, where CUDA forbids calls of its own.
bool& on_stream_thread();

}  // namespace fake_gpu
