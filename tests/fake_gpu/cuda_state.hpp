// What the fake CUDA runtime of a process knows, and the frame of its calls.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fake_gpu/cuda_memory.hpp"
#include "tests/fake_gpu/cuda_stream.hpp"
#include "tests/fake_gpu/handles.hpp"

namespace fake_gpu {

// An operation that was issued: called once for each time that it is to run.
using Node = std::function<Task()>;

// Between cudaStreamBeginCapture and cudaStreamEndCapture.
struct Capture {
  // Of the streams that joined by waiting for an event: how many nodes there were after their
  // latest one, and how many of those another stream waits for.
  struct Branch {
    std::size_t latest = 0, joined = 0;
  };

  const Stream* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool ended = false, invalid = false;
  std::vector<Node> nodes;
  std::map<const Stream*, Branch> branches;

  void add(const Stream* stream, Node node) {
    nodes.push_back(std::move(node));
    branches[stream].latest = nodes.size();
  }
};

// One recording of an event.
class Mark {
 public:
  void reach();
  bool reached() const;
  void wait() const;
  double milliseconds() const;  // of a clock; once it was reached

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
  double milliseconds_ = 0;
};

// Guarded by Runtime::mutex.
struct Event {
  int device = 0;
  bool timed = true;
  std::shared_ptr<Mark> mark;         // null: never recorded
  std::shared_ptr<Capture> captured;  // last recorded in this one
  const Stream* captured_on = nullptr;
  std::size_t captured_at = 0;
};

struct Graph {
  std::vector<Node> nodes;
};

// From the environment: FAKE_GPUS, FAKE_GPU_MEMORY, FAKE_GPU_CAPABILITY, CUDA_VISIBLE_DEVICES.
struct Config {
  std::vector<int> devices;  // numbers in the machine
  std::size_t memory = 0;    // bytes of each
  int major = 9, minor = 0;
};
Config read_config();

struct Runtime {
  Runtime();

  const Config config;
  const pid_t process;
  Memory memory;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Graph> graphs, executables;
  std::vector<std::shared_ptr<Stream>> null_streams;  // one per device
  // Of captures and events, and of the order in which work is issued.
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> captures;  // under way
  std::mutex peers_mutex;
  std::set<std::pair<int, int>> peers;  // who may reach whose memory
  std::mutex contexts_mutex;
  std::set<int> contexts;  // devices that have one

  int devices() const { return static_cast<int>(config.devices.size()); }
  // Makes the device's context, as the first call on a device does. FAKE_GPU_CONTEXTS: says on stderr
  // that this process has more of them.
  void use_context(int device);
  // Null where the handle is none. 0 is the current device's NULL stream.
  std::shared_ptr<Stream> stream(cudaStream_t handle) const;
  std::vector<std::shared_ptr<Stream>> streams_of(int device) const;
  void wait_for_device(int device) const;
  // And for those that may reach its memory, or whose memory it may reach.
  void wait_for_peers(int device);

  // Issues or captures.
  cudaError_t issue(const std::shared_ptr<Stream>& stream, const Node& node);
  cudaError_t issue_task(const std::shared_ptr<Stream>& stream, const Task& task) {
    return issue(stream, [task] { return task; });
  }
  // Of calls that are forbidden while certain captures are under way: they invalidate those.
  cudaError_t refuse_in_capture();
};

// Never destroyed: threads of streams may outlive main.
Runtime& runtime();

// The calling thread's.
int& current_device();
cudaError_t& last_error();

// What FAKE_GPU_ERROR says, or what forbids any call here.
cudaError_t refusal();

// Runs f(runtime()) and remembers its error. Of calls that need no context.
template <class F>
cudaError_t ask(const F& f) {
  cudaError_t error = refusal();
  if (error == cudaSuccess) {
    try {
      error = f(runtime());
    } catch (const std::bad_alloc&) {
      error = cudaErrorMemoryAllocation;
    }
  }
  if (error != cudaSuccess) last_error() = error;
  return error;
}

// The same, on the current device's context.
template <class F>
cudaError_t call(const F& f) {
  return ask([&](Runtime& runtime) {
    runtime.use_context(current_device());
    return f(runtime);
  });
}

}  // namespace fake_gpu
