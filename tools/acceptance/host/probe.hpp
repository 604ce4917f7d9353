// The description of a host by itself, and what it counts while it works.
#pragma once

#include <string>
#include <vector>

#include "tools/acceptance/host/interfaces.hpp"

namespace ccl_tests::acceptance {

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
