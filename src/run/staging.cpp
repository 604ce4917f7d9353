#include "src/run/staging.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/backends/gpu_evidence.hpp"
#include "src/backends/registry.hpp"

namespace ccl_tests {
namespace {

// A GPU that is in evidence makes the reason clearer.
const Devices& usable_gpus() {
  const Devices& gpus = open_gpus();
  try {
    gpus.count();
  } catch (const Error& e) {
    const auto evidence = gpu_evidence();
    throw Error(evidence ? fmt::format("{}, but {}", *evidence, e.what()) : e.what());
  }
  return gpus;
}

// Of a run that uses none: a host that should have GPUs must show them all the same.
void expect_here(int expected) {
  if (expected == 0) return;
  const int there = usable_gpus().count();
  if (there < expected)
    throw Error(fmt::format("--expect-gpus {}: this host shows {}", expected, there));
}

}  // namespace

Staging place_buffers(const Collective& collective, const Options& o, const Backend& backend) {
  if (o.gpu.memory == Memory::cuda) backend.start();  // MPI knows only then whether it takes it
  const std::vector<Memory> taken = backend.memories();
  const bool host_only = collective.host_memory || collective.compose != nullptr;
  if (host_only && o.gpu.memory == Memory::cuda) {
    throw Unsupported(fmt::format(
        "--memory cuda: {}_perf works on host memory, which is copied for a library on GPUs",
        collective.name));
  }
  Staging staging;
  staging.buffers = host_only ? Memory::host : o.gpu.memory.value_or(taken.front());
  const auto takes = [&](Memory memory) {
    return std::find(taken.begin(), taken.end(), memory) != taken.end();
  };
  staging.staged = !takes(staging.buffers);
  if (staging.buffers == Memory::cuda || !takes(Memory::host)) {
    staging.gpus = &usable_gpus();
  } else {
    expect_here(o.gpu.expect_gpus.value_or(0));
  }
  return staging;
}

}  // namespace ccl_tests
