// The description of a host by itself, and what it counts while it works.
#pragma once

#include <string>
#include <vector>

#include "tools/acceptance/host/interfaces.hpp"

namespace ccl_tests::acceptance {

// What NVIDIA's management library (libnvidia-ml, part of the driver) says of the host's GPUs.

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

struct HostDescription {
  Facts facts = {};
  std::vector<std::string> throttled_wires = {};  // see throttled_wires()
  double wire_rate = 0;                           // bytes per second in one direction; 0: not known
  double nvlink_rate = 0;  // the same of all NVLinks of the GPU that has the fewest; 0: none
};

// A rank's way to learn about its host. Called on the ranks' threads.
class HostProbe {
 public:
  virtual ~HostProbe() = default;
  // interface: the wire whose rate is wanted; empty: the fastest one that is up.
  virtual HostDescription describe(const std::string& interface) const = 0;
  virtual Counters counters() const = 0;
};

// The host that this process runs on.
class RealHost : public HostProbe {
 public:
  HostDescription describe(const std::string& interface) const override;
  Counters counters() const override;
};

// Returns what can differ between hosts that should be alike: "kernel", "os", "cpu", "cpus", "memory",
// "governor", "gpu driver", "gpus", "link eth0" ("up, 10 Gbit/s, MTU 1500"), "infiniband mlx5_0/1"
// ("ACTIVE, 400 Gb/sec (4X NDR)"), "firmware mlx5_0", "pci eth0" ("16 GT/s x8"). What is not available is left
// out. root: where proc, sys and etc are, for tests.
Facts host_facts(const std::string& root = "");

// Returns counters of this host: "sent eth0" and "received eth0" (bytes), "errors eth0", "sent mlx5_0/1",
// ..., "retransmits" (TCP segments), "symbol errors mlx5_0/1" and others of InfiniBand's, and "PCIe fatal errors
// eth0" and others of the devices behind them. Those of GPUs are NvmlGpu's. root: where proc and sys are.
Counters host_counters(const std::string& root = "");

}  // namespace ccl_tests::acceptance
