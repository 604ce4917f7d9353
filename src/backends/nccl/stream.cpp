#include "src/backends/nccl/stream.hpp"

#include <utility>

#include "src/backends/nccl/api.hpp"

namespace ccl_tests::nccl_module {
namespace {

class Events : public Timeline {
 public:
  Events(const Stream& stream, std::size_t marks) : stream_(stream), events_(marks) {
    for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "an event");
  }
  ~Events() override {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void mark() override {
    const cudaEvent_t event = events_.at(used_++);
    const unsigned flags = stream_.capturing() ? cudaEventRecordExternal : cudaEventRecordDefault;
    check(cudaEventRecordWithFlags(event, stream_.get(), flags), "recording an event");
  }

  std::vector<double> intervals() const override {
    std::vector<double> seconds;
    for (std::size_t k = 1; k < used_; ++k) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, events_[k - 1], events_[k]),
            "the time between events");
      seconds.push_back(static_cast<double>(milliseconds) / 1e3);
    }
    return seconds;
  }

 private:
  const Stream& stream_;
  std::vector<cudaEvent_t> events_;
  std::size_t used_ = 0;
};

class StreamGraph : public Graph {
 public:
  StreamGraph(const Stream& stream, const std::function<void()>& issue,
              std::function<void()> launched)
      : stream_(stream), launched_(std::move(launched)) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
          "beginning a graph");
    cudaGraph_t graph = nullptr;
    try {
      issue();
    } catch (...) {
      cudaStreamEndCapture(stream.get(), &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph), "ending a graph");
    const cudaError_t status = cudaGraphInstantiateWithFlags(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "making a graph executable");
    check(cudaGraphUpload(graph_, stream.get()), "uploading a graph");
    check(cudaStreamSynchronize(stream.get()), "uploading a graph");
  }
  ~StreamGraph() override { cudaGraphExecDestroy(graph_); }
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  void launch() override {
    check(cudaGraphLaunch(graph_, stream_.get()), "launching a graph");
    launched_();
  }

 private:
  const Stream& stream_;
  std::function<void()> launched_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

Stream::Stream(bool null_stream) {
  if (!null_stream)
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

Stream::~Stream() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

bool Stream::idle() const {
  const cudaError_t status = cudaStreamQuery(stream_);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // no error, but kept as one: who asks for the last error would find it
    return false;
  }
  check(status, "an operation on the GPU");
  return true;
}

bool Stream::capturing() const {
  if (stream_ == nullptr) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &status), "whether a graph is being made");
  return status == cudaStreamCaptureStatusActive;
}

std::unique_ptr<Timeline> make_timeline(const Stream& stream, std::size_t marks) {
  return std::make_unique<Events>(stream, marks);
}

std::unique_ptr<Graph> capture(const Stream& stream, const std::function<void()>& issue,
                               std::function<void()> launched) {
  return std::make_unique<StreamGraph>(stream, issue, std::move(launched));
}

}  // namespace ccl_tests::nccl_module
