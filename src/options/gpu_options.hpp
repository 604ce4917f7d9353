// Which devices are used, and the memory that buffers lie in.
#pragma once

#include <optional>

#include "src/core/device.hpp"

namespace ccl_tests {

struct GpuOptions {
  std::optional<Memory> memory;  // nullopt: what the library prefers
  bool memory_report = false;
  std::optional<int> expect_gpus;
  std::optional<int> first_device;  // this process's first
};

}  // namespace ccl_tests
