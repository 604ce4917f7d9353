// Where a job's buffers lie, decided before its ranks start.
#pragma once

#include "src/core/backend.hpp"
#include "src/devices/devices.hpp"
#include "src/job/job_setup.hpp"

namespace ccl_tests {

struct Staging {
  Memory buffers = Memory::host;
  const Devices* gpus = nullptr;  // null: no GPU is used
  bool staged = false;            // the library takes another memory than the buffers'
};

// Opens the GPUs if the backend or --memory needs them. Throws Unsupported if this build cannot,
// Error if the machine's GPUs cannot be used or are fewer than --expect-gpus.
Staging stage_buffers(const JobSetup& options, const Backend& backend);

}  // namespace ccl_tests
