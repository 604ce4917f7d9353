// Loads that run beside operations: what a training step does meanwhile (--beside).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "src/core/device.hpp"
#include "src/measure/beside.hpp"

namespace ccl_tests {

// cpu: a product of matrices that stay in a core's caches. memory: a triad through more memory than
// the last-level cache. copy: copies between host and GPU.
enum class LoadKind { cpu, memory, copy };

constexpr std::string_view name(LoadKind kind) {
  switch (kind) {
    case LoadKind::cpu: return "cpu";
    case LoadKind::memory: return "memory";
    case LoadKind::copy: return "copy";
  }
  return {};
}

// Returns the bytes that the load of one of `ranks` ranks on a host works on: of a triad those of its
// three arrays, which all ranks' together are four times the last-level cache. last_cache: its bytes;
// 0: not known. Pure.
std::size_t load_bytes(LoadKind kind, std::size_t last_cache, std::size_t ranks);

// Returns "a triad through 96 MiB". bytes: load_bytes(). Pure.
std::string about(LoadKind kind, std::size_t bytes);

// Returns a load of load_bytes() bytes that does not work yet. Its work counts in floating-point
// operations (cpu) or bytes that are read and written (memory) or copied (copy). Its thread inherits the
// caller's CPUs, and ends with the load. gpu: that copies go to and from, of the load's own; null for
// other kinds. Throws Error without the memory, Unsupported without a thread.
std::unique_ptr<Load> start_load(LoadKind kind, std::size_t bytes, std::unique_ptr<Device> gpu);

}  // namespace ccl_tests
