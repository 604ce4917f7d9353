// Does anything say that this machine has GPUs to test? Then a quiet run on the CPU would be the
// wrong answer.
#pragma once

#include <optional>
#include <string>

namespace ccl_tests {

// "PCI device 0000:0f:00.0 is an NVIDIA GPU", "CUDA_VISIBLE_DEVICES is set", ...; empty: nothing
// points to one, or a launcher says that there is none. root: in front of /sys and /dev, for tests.
std::optional<std::string> gpu_evidence(const std::string& root = "");

}  // namespace ccl_tests
