#include "src/job/job_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/backends/gpu_evidence.hpp"
#include "src/backends/registry.hpp"
#include "src/core/error.hpp"

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

// Enforces --expect-gpus in runs that do not use GPUs.
void expect_here(int expected) {
  if (expected == 0) return;
  const int there = usable_gpus().count();
  if (there < expected)
    throw Error(fmt::format("--expect-gpus {}: this host shows {}", expected, there));
}

}  // namespace

Staging stage_buffers(const JobSetup& o, const Backend& backend) {
  if (o.memory == Memory::cuda)
    backend.start(o.library_options());  // MPI knows only then whether it takes it
  const std::vector<Memory> taken = backend.info().memories;
  const bool host_only = !o.host_memory_only.empty();
  if (host_only && o.memory == Memory::cuda)
    throw Unsupported(fmt::format("--memory cuda: {}", o.host_memory_only));
  Staging staging;
  staging.buffers = host_only ? Memory::host : o.memory.value_or(taken.front());
  const auto takes = [&](Memory memory) {
    return std::find(taken.begin(), taken.end(), memory) != taken.end();
  };
  staging.staged = !takes(staging.buffers);
  if (staging.buffers == Memory::cuda || !takes(Memory::host)) {
    staging.gpus = &usable_gpus();
  } else {
    expect_here(o.expect_gpus.value_or(0));
  }
  return staging;
}

}  // namespace ccl_tests
