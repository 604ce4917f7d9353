#include <chrono>

#include "tests/fake_gpu/cuda_state.hpp"

namespace fake_gpu {

void Mark::reach() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  milliseconds_ = std::chrono::duration<double, std::milli>(now).count();
  reached_ = true;
  changed_.notify_all();
}

bool Mark::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

void Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_; });
}

double Mark::milliseconds() const {
  const std::lock_guard lock(mutex_);
  return milliseconds_;
}

namespace {

// Work that reaches a new mark of `event` each time that it is issued.
Node recording(const std::shared_ptr<Event>& event) {
  return [event] {
    auto mark = std::make_shared<Mark>();
    event->mark = mark;
    return [mark] { mark->reach(); };
  };
}

cudaError_t record(Runtime& runtime, cudaEvent_t handle, cudaStream_t stream_handle,
                   unsigned int flags) {
  const auto event = runtime.events.find(handle);
  const auto stream = runtime.stream(stream_handle);
  if (!event || !stream || event->device != stream->device()) return cudaErrorInvalidResourceHandle;
  if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal) {
    return cudaErrorInvalidValue;
  }
  {
    const std::lock_guard lock(runtime.mutex);
    if (stream->capture && flags == cudaEventRecordDefault) {
      if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      event->mark = nullptr;
      event->captured = stream->capture;
      event->captured_on = stream.get();
      event->captured_at = stream->capture->nodes.size();
      return cudaSuccess;
    }
    if (!stream->capture && flags == cudaEventRecordExternal) return cudaErrorInvalidValue;
    event->captured = nullptr;
  }
  return runtime.issue(stream, recording(event));
}

cudaError_t wait_in_capture(Stream& stream, const Event& event) {
  const auto from = event.captured;
  if (from && !stream.capture && !from->ended) {
    stream.capture = from;
    from->branches[&stream].latest = from->nodes.size();
  }
  if (stream.capture != from || from->ended) {
    if (stream.capture) stream.capture->invalid = true;
    if (!from) return cudaErrorStreamCaptureIsolation;
    from->invalid = true;
    return from->ended ? cudaErrorCapturedEvent : cudaErrorStreamCaptureMerge;
  }
  if (from->invalid) return cudaErrorStreamCaptureInvalidated;
  auto& joined = from->branches[event.captured_on].joined;
  joined = std::max(joined, event.captured_at);
  return cudaSuccess;
}

cudaError_t wait(Runtime& runtime, cudaStream_t stream_handle, cudaEvent_t handle,
                 unsigned int flags) {
  const auto event = runtime.events.find(handle);
  const auto stream = runtime.stream(stream_handle);
  if (!event || !stream) return cudaErrorInvalidResourceHandle;
  if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) return cudaErrorInvalidValue;
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard lock(runtime.mutex);
    const bool external = stream->capture && flags == cudaEventWaitExternal;
    if (!external && (stream->capture || event->captured)) return wait_in_capture(*stream, *event);
    mark = event->mark;
    if (!mark && !external) return cudaSuccess;
  }
  return runtime.issue(stream, [event, mark, external = flags == cudaEventWaitExternal] {
    return [seen = external ? event->mark : mark] {
      if (seen) seen->wait();
    };
  });
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::call;
using fake_gpu::current_device;
using fake_gpu::Event;
using fake_gpu::Mark;
using fake_gpu::Runtime;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&](Runtime& runtime) {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    auto made = std::make_shared<Event>();
    made->device = current_device();
    made->timed = (flags & cudaEventDisableTiming) == 0;
    *event = static_cast<cudaEvent_t>(runtime.events.add(std::move(made)));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    return runtime.events.remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    return fake_gpu::record(runtime, event, stream, cudaEventRecordDefault);
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&](Runtime& runtime) { return fake_gpu::record(runtime, event, stream, flags); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call([&](Runtime& runtime) { return fake_gpu::wait(runtime, stream, event, flags); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    std::shared_ptr<Mark> mark;
    {
      const std::lock_guard lock(runtime.mutex);
      if (found->captured) {
        found->captured->invalid = true;
        return cudaErrorCapturedEvent;
      }
      mark = found->mark;
    }
    if (mark) mark->wait();
    runtime.memory.close_unused();
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
    const std::lock_guard lock(runtime.mutex);
    if (found->captured) return cudaErrorCapturedEvent;
    if (found->mark && !found->mark->reached()) return cudaErrorNotReady;
    runtime.memory.close_unused();
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Runtime& runtime) {
    if (ms == nullptr) return cudaErrorInvalidValue;
    const auto first = runtime.events.find(start);
    const auto second = runtime.events.find(end);
    if (!first || !second || first->device != second->device) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(runtime.mutex);
    if (first->captured || second->captured) return cudaErrorCapturedEvent;
    for (const auto& event : {first, second}) {
      if (!event->timed || !event->mark) return cudaErrorInvalidResourceHandle;
    }
    if (!first->mark->reached() || !second->mark->reached()) return cudaErrorNotReady;
    *ms = static_cast<float>(second->mark->milliseconds() - first->mark->milliseconds());
    return cudaSuccess;
  });
}

}  // extern "C"
