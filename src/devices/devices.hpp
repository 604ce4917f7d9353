// A kind of devices, as the harness sees it; and the one symbol that a module of devices exports.
#pragma once

#include <memory>

#include "src/core/device.hpp"
#include "verify/loops.hpp"

namespace ccl_tests {

class Devices {
 public:
  virtual ~Devices() = default;
  // Returns how many this process sees. Throws Error, saying why, when they cannot be used.
  virtual int count() const = 0;
  // Makes device `index` the calling thread's. Throws Error.
  virtual std::unique_ptr<Device> open(int index) const = 0;
  // The verifier's loops over the memory of `device`, which outlives them.
  virtual std::unique_ptr<verify::Loops> loops(Device& device) const = 0;
};

// The host as the only device.
const Devices& host_devices();

// A module of devices is a shared object that exports ccl_module_abi (src/core/backend.hpp) and,
// with C linkage, ccl_module_devices(), whose result lives as long as the module stays open.
using ModuleDevices = const Devices* (*)();

}  // namespace ccl_tests
