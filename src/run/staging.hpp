// Where a run's buffers lie, decided before its ranks start.
#pragma once

#include "src/core/backend.hpp"
#include "src/devices/devices.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// Where a run's buffers lie, and what takes them there.
struct Staging {
  Memory buffers = Memory::host;
  const Devices* gpus = nullptr;  // null: no GPU is used
  bool staged = false;            // the library takes another memory than the buffers'
};

// Opens the GPUs where the backend or --memory needs them. Throws Unsupported where this build
// cannot, Error where the machine's GPUs cannot be used or are fewer than --expect-gpus.
Staging place_buffers(const Collective& collective, const Options& options, const Backend& backend);

}  // namespace ccl_tests
