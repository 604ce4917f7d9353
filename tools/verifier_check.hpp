// Holds the verifier's loops over a device's memory to those over the host's, and measures how fast they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// How fast a device's memory is filled and compared, beside a copy within the same memory and beside writing a constant.

struct SpeedOptions {
  std::size_t bytes = std::size_t{4} << 30;
  int repetitions = 9;
  std::uint64_t seed = 1;
};

// Seconds of each repetition, in which all five took turns.
struct Speed {
  std::size_t bytes = 0;  // copied, written and compared
  // set: Loops::set, on a GPU cudaMemset. constant: Loops::fill_constant.
  std::vector<double> copy_s = {}, set_s = {}, constant_s = {}, fill_s = {}, compare_s = {};

  // Returns bytes per second, by the median of `seconds`. Copying moves twice as many.
  double rate(const std::vector<double>& seconds) const;
};

// `wanted`, or fewer where two buffers would not fit into the free memory; a multiple of 256.
std::size_t affordable(std::size_t wanted, const Device& device);

// Two buffers in a device's memory, for all types in turn.
class SpeedCheck {
 public:
  // loops: of `device`.
  SpeedCheck(Device& device, verify::Loops& loops, const SpeedOptions& options);
  std::size_t bytes() const { return options_.bytes; }
  // Throws Error (wrong data) where a right result is found wrong.
  Speed measure(DataType type, std::optional<ReduceOp> op);

 private:
  Device& device_;
  verify::Loops& loops_;
  SpeedOptions options_;
  Buffer data_, other_;
};

}  // namespace ccl_tests::tools
