// Measures how fast a device's memory is filled and compared, beside a copy within the same memory and beside
// writing a constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/core/device.hpp"
#include "src/core/types.hpp"
#include "verify/loops.hpp"

namespace ccl_tests::tools {

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
