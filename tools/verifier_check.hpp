// Holds the verifier's loops over a device's memory to those over the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/core/device.hpp"
#include "src/core/types.hpp"
#include "verify/loops.hpp"

namespace ccl_tests::tools {

struct CheckOptions {
  std::size_t max_bytes = std::size_t{64} << 20;  // of the longest row
  std::uint64_t seed = 1;
  bool quick = false;  // fewer operations, lengths and faults
};

// The outcome of both with the same data, for one type.
struct CheckReport {
  std::size_t patterns = 0;                 // operations, and data movement
  std::size_t fills = 0, other_fills = 0;   // fills and poisons; those that differ
  std::size_t right = 0, false_alarms = 0;  // right data; those with a complaint
  std::size_t faults = 0, missed = 0;       // faults; those not found, or told otherwise
  std::vector<std::string> details;         // lines about the first of what is wrong

  bool passed() const { return other_fills + false_alarms + missed == 0; }
};

// loops: of `device`. Throws Error where the device fails.
CheckReport check_type(DataType type, Device& device, verify::Loops& loops,
                       const CheckOptions& options);

}  // namespace ccl_tests::tools
