#include "tests/fake_gpu/cuda_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace fake_gpu {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// As CUDA reads it: up to the first entry that is no device; a device named twice leaves none.
std::vector<int> visible_devices(int devices, const char* list) {
  std::vector<int> visible;
  if (list == nullptr) {
    for (int device = 0; device < devices; ++device) visible.push_back(device);
    return visible;
  }
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    char* end = nullptr;
    const long device = std::strtol(entry.c_str(), &end, 10);
    if (end == entry.c_str() || *end != '\0' || device < 0 || device >= devices) break;
    if (std::count(visible.begin(), visible.end(), device) > 0) return {};
    visible.push_back(static_cast<int>(device));
  }
  return visible;
}

}  // namespace

Config read_config() {
  Config config;
  config.devices = visible_devices(std::atoi(variable("FAKE_GPUS", "2").c_str()),
                                   std::getenv("CUDA_VISIBLE_DEVICES"));
  config.memory = std::strtoull(variable("FAKE_GPU_MEMORY", "1073741824").c_str(), nullptr, 10);
  std::istringstream capability(variable("FAKE_GPU_CAPABILITY", "9.0"));
  char dot = '.';
  capability >> config.major >> dot >> config.minor;
  return config;
}

Runtime::Runtime() : config(read_config()), process(getpid()), memory(devices(), config.memory) {
  for (int device = 0; device < devices(); ++device) {
    null_streams.push_back(std::make_shared<Stream>(memory, device, true));
  }
  // The driver reads the variable once.
  if (variable("FAKE_GPU_QUEUES", "0") == "1")
    std::fprintf(stderr, "fake GPU: %s hardware queues in process %d\n",
                 variable("CUDA_DEVICE_MAX_CONNECTIONS", "8").c_str(), process);
}

void Runtime::wait_for_peers(int device) {
  std::set<std::pair<int, int>> all;
  {
    const std::lock_guard lock(peers_mutex);
    all = peers;
  }
  for (const auto& [from, to] : all)
    if (from == device || to == device) wait_for_device(from == device ? to : from);
}

void Runtime::use_context(int device) {
  const std::lock_guard lock(contexts_mutex);
  if (!contexts.insert(device).second) return;
  const char* const most = std::getenv("FAKE_GPU_CONTEXTS");
  if (most == nullptr || contexts.size() <= std::strtoull(most, nullptr, 10)) return;
  std::fprintf(stderr, "fake GPU: context %zu of process %d, on device %d\n", contexts.size(),
               process, device);
}

// The driver's thread blocks no signal: one that is meant for the process may come to it.
void start_drivers_thread() {
  std::thread([] {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (;;) pause();
  }).detach();
}

Runtime& runtime() {
  static auto* const only = [] {
    start_drivers_thread();
    return new Runtime;
  }();
  return *only;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t refusal() {
  if (const char* const error = std::getenv("FAKE_GPU_ERROR"); error != nullptr && *error != '\0') {
    return static_cast<cudaError_t>(std::atoi(error));
  }
  if (on_stream_thread()) return cudaErrorNotPermitted;
  if (runtime().process != getpid()) return cudaErrorInitializationError;  // CUDA and fork()
  return runtime().devices() == 0 ? cudaErrorNoDevice : cudaSuccess;
}

std::shared_ptr<Stream> Runtime::stream(cudaStream_t handle) const {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return null_streams.at(static_cast<std::size_t>(current_device()));
  }
  return streams.find(handle);
}

std::vector<std::shared_ptr<Stream>> Runtime::streams_of(int device) const {
  auto found = streams.all();
  std::erase_if(found, [&](const auto& stream) { return stream->device() != device; });
  found.push_back(null_streams.at(static_cast<std::size_t>(device)));
  return found;
}

void Runtime::wait_for_device(int device) const {
  for (const auto& stream : streams_of(device)) stream->wait(stream->submitted());
}

cudaError_t Runtime::issue(const std::shared_ptr<Stream>& stream, const Node& node) {
  const std::lock_guard lock(mutex);
  if (stream->capture) {
    if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    stream->capture->add(stream.get(), node);
    return cudaSuccess;
  }
  const auto& null_stream = null_streams.at(static_cast<std::size_t>(stream->device()));
  std::vector<std::shared_ptr<Stream>> first;
  if (stream == null_stream) {
    first = streams_of(stream->device());
    std::erase_if(first, [&](const auto& s) { return s == stream || !s->blocking(); });
    for (const auto& other : first) {
      if (!other->capture) continue;
      other->capture->invalid = true;
      return cudaErrorStreamCaptureImplicit;
    }
  } else if (stream->blocking()) {
    first.push_back(null_stream);
  }
  for (const auto& other : first) {
    const auto ticket = other->submitted();
    if (!other->done(ticket)) stream->submit([other, ticket] { other->wait(ticket); });
  }
  stream->submit(node());
  return cudaSuccess;
}

cudaError_t Runtime::refuse_in_capture() {
  const std::lock_guard lock(mutex);
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && !own) continue;
    capture->invalid = true;
    error = cudaErrorStreamCaptureUnsupported;
  }
  return error;
}

}  // namespace fake_gpu

using fake_gpu::last_error;

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(last_error(), cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return last_error(); }

}  // extern "C"
