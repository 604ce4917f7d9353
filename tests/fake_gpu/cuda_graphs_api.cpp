#include "tests/fake_gpu/cuda_state.hpp"

namespace fake_gpu {
namespace {

cudaError_t begin(Runtime& runtime, cudaStream_t handle, cudaStreamCaptureMode mode) {
  const auto stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (handle == nullptr || handle == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
  const std::lock_guard lock(runtime.mutex);
  if (stream->capture) {
    stream->capture->invalid = true;
    return cudaErrorIllegalState;
  }
  auto capture = std::make_shared<Capture>();
  capture->origin = stream.get();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  runtime.captures.push_back(capture);
  stream->capture = std::move(capture);
  return cudaSuccess;
}

cudaError_t end(Runtime& runtime, cudaStream_t handle, cudaGraph_t* graph) {
  const auto stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  const std::lock_guard lock(runtime.mutex);
  const auto capture = stream->capture;
  if (!capture) return cudaErrorIllegalState;
  if (capture->origin != stream.get()) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  capture->ended = true;
  std::erase(runtime.captures, capture);
  for (const auto& other : runtime.streams.all()) {
    if (other->capture == capture) other->capture = nullptr;
  }
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  for (const auto& [branch, nodes] : capture->branches) {
    if (branch != capture->origin && nodes.joined < nodes.latest) {
      return cudaErrorStreamCaptureUnjoined;
    }
  }
  *graph = static_cast<cudaGraph_t>(
      runtime.graphs.add(std::make_shared<Graph>(Graph{std::move(capture->nodes)})));
  return cudaSuccess;
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::call;
using fake_gpu::Graph;
using fake_gpu::Node;
using fake_gpu::Runtime;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](Runtime& runtime) { return fake_gpu::begin(runtime, stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](Runtime& runtime) { return fake_gpu::end(runtime, stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.stream(stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(runtime.mutex);
    *status = !found->capture           ? cudaStreamCaptureStatusNone
              : found->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long /*flags*/) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.graphs.find(graph);
    if (!found || executable == nullptr) return cudaErrorInvalidValue;
    *executable =
        static_cast<cudaGraphExec_t>(runtime.executables.add(std::make_shared<Graph>(*found)));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (!runtime.executables.find(executable)) return cudaErrorInvalidValue;
    return runtime.stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.executables.find(executable);
    if (!found) return cudaErrorInvalidValue;
    const auto on = runtime.stream(stream);
    if (!on) return cudaErrorInvalidResourceHandle;
    for (const Node& node : found->nodes) {
      if (const auto error = runtime.issue(on, node); error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](Runtime& runtime) {
    return runtime.executables.remove(executable) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Runtime& runtime) {
    return runtime.graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // extern "C"
