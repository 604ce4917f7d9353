// -M: what a run takes of the memory of its GPUs.
#pragma once

#include <cstddef>
#include <string>

#include "src/core/control_channel.hpp"

namespace ccl_tests {

// Free bytes of a rank's device: before the library connected, after it, and with the buffers.
struct MemoryUse {
  std::size_t before = 0, connected = 0, allocated = 0;
};

// nccl-tests' line, of the rank that uses most. at_end: free bytes after the last row. Collective.
std::string memory_line(ControlChannel& channel, const MemoryUse& use, std::size_t at_end,
                        double limit_s);

}  // namespace ccl_tests
