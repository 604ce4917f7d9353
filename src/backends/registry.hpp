// Finds the backend that --backend names: built in, or a module opened at run time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/backend.hpp"
#include "src/devices/devices.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {

// A backend and the module that holds its code; modules stay open until the process ends.
using BackendPtr = std::shared_ptr<const Backend>;

// name: "auto", "loopback", a module's name ("gloo"), or a path to a module (contains '/'). "mpi"
// is the MPI that started this process: mpi_module where the launcher tells ("mpi-openmpi"),
// otherwise the first that is there. Throws Unsupported with what brings an absent one; Error where
// "auto" finds a GPU that this build cannot use.
BackendPtr open_backend(const std::string& name, const std::string& mpi_module = {});

// As above; its library is the one in `file`. Throws UsageError where there is no such file, Error
// where it is not what the backend needs.
BackendPtr open_backend_with(const std::string& file, const std::string& name,
                             const std::string& mpi_module);

// The module of CUDA devices. Throws Unsupported with what brings it.
const Devices& open_gpus();

// Returns the cores that this process may use, in the order of hwloc's module. Throws Unsupported
// with what brings the module, Error.
std::vector<CpuCore> cpu_topology();

// Returns the modules over checkouts of Gloo that are here, the oldest first: "gloo-20260421".
std::vector<std::string> dated_gloos();

// Returns what says that this machine has GPUs to test, so that a quiet run on the CPU would be the
// wrong answer: "PCI device 0000:0f:00.0 is an NVIDIA GPU", "CUDA_VISIBLE_DEVICES is set", ...
// nullopt if nothing does, or if a launcher says that there is none. root: in front of /sys and
// /dev, for tests.
std::optional<std::string> gpu_evidence(const std::string& root = "");

}  // namespace ccl_tests
