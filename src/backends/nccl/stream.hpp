// The stream that a communicator's operations are on: waiting for it, graphs of it, marks in it.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

#include "src/core/communicator.hpp"

namespace ccl_tests::nccl_module {

// A stream of the calling thread's device. Owns the stream unless that is the NULL stream.
class Stream {
 public:
  explicit Stream(bool null_stream);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  bool idle() const;  // all that was issued is complete; throws Error where an operation failed
  bool capturing() const;

 private:
  cudaStream_t stream_ = nullptr;
};

// Events: also within a graph, as nodes that the host may read (nccl-tests has none there).
std::unique_ptr<Timeline> make_timeline(const Stream& stream, std::size_t marks);

// launched() is called with every launch.
std::unique_ptr<Graph> capture(const Stream& stream, const std::function<void()>& issue,
                               std::function<void()> launched);

}  // namespace ccl_tests::nccl_module
