// What NVIDIA's management library (libnvidia-ml, part of the driver) says of the host's GPUs.
#pragma once

#include <string>
#include <vector>

#include "tools/acceptance/host/interfaces.hpp"

namespace ccl_tests::acceptance {

struct NvmlGpu {
  // "clocks" ("at most 1980 MHz, memory 2619 MHz"), "power limit" ("700 W"), "ecc" ("on"), "nvlinks" ("18 of
  // 18 up, 26.6 GB/s each"), "pcie" ("x16 of x16"). What the GPU does not say is left out.
  Facts facts = {};
  // "corrected memory errors", "uncorrected memory errors" (both since the driver was loaded), "rows to be
  // remapped", "PCIe replays", "NVLink errors", "ms slowed down by heat", "ms slowed down by the board".
  Counters counters = {};
  double nvlink_bytes_per_s = 0;  // of all links that are up, in one direction; 0: none
};

// Returns the GPUs of this host, whatever this process may use of them, in the driver's order; none without the
// library or if it cannot be used. The library stays loaded. file: for tests.
std::vector<NvmlGpu> nvml_gpus(const std::string& file = "libnvidia-ml.so.1");

// Returns what all GPUs have in common as "gpu clocks", ...; where they differ, how many have what: "7 x on, 1 x
// off".
Facts facts_of_gpus(const std::vector<NvmlGpu>& gpus);
// Returns the counters of all: "corrected memory errors gpu 0".
Counters counters_of_gpus(const std::vector<NvmlGpu>& gpus);
// Returns what the links of the GPU that has the fewest carry in one direction, bytes per second; 0: some GPU has
// none.
double slowest_nvlink(const std::vector<NvmlGpu>& gpus);

}  // namespace ccl_tests::acceptance
