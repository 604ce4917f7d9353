// The description of a host by itself, and what it counts while it works.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests::acceptance {

using Facts = std::map<std::string, std::string>;
using Counters = std::map<std::string, std::uint64_t>;

// A GPU, as NVIDIA's management library (libnvidia-ml, part of the driver) describes it.
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

// Returns what all GPUs have in common as "gpu clocks", ...; where they differ, how many have what: "7 x on, 1 x off".
Facts facts_of_gpus(const std::vector<NvmlGpu>& gpus);
// Returns the counters of all: "corrected memory errors gpu 0".
Counters counters_of_gpus(const std::vector<NvmlGpu>& gpus);
// Returns what the links of the GPU that has the fewest carry one way, bytes per second; 0: some GPU has none.
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

// The files in which a host's kernel says what there is (interfaces.cpp).

// Returns the first line, without blanks around it.
std::string line_in(const std::filesystem::path& file);
// Returns what stands behind "name:" or "name=" in the first line that begins so.
std::string value_in(const std::filesystem::path& file, std::string_view name);
// Returns the names of what lies in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);
// Returns the count in the file's first line; nullopt if the file is not there, is empty, or has none.
std::optional<std::uint64_t> count_in(const std::filesystem::path& file);

// Lanes, and what each carries: 10^9 transfers per second.
struct PciSpeed {
  double transfers = 0;
  int lanes = 0;
};

struct PciLink {
  PciSpeed now, most;  // most: what the device can, in a slot that can
};

// Returns what a link carries in one direction, bytes per second, without the line's coding (8b/10b up to
// 5 GT/s, 128b/130b up to 32, 242 of 256 bytes of a flit from 64 on: PCI Express Base 6.0); packets'
// headers take some of it.
double bytes_per_second(const PciSpeed& speed);

// Returns "32 GT/s x16", or "16 GT/s x8 of 32 GT/s x16" if it is slower than the device can be.
std::string text(const PciLink& link);

// Returns the errors that the device has counted, by severity: "PCIe corrected errors", "PCIe fatal errors", ...
std::map<std::string, std::uint64_t> pci_errors(const std::filesystem::path& device);

struct Wire {
  std::string name = {};              // "eth0", "mlx5_0/1"
  std::filesystem::path folder = {};  // in /sys
  std::string state = {}, rate = {}, mtu = {};
  double bytes_per_s = 0;  // in one direction, as the wire says; 0: it does not
  bool up = false;
  bool infiniband = false;          // a port; otherwise a network interface
  std::optional<PciLink> pci = {};  // of its device
};

// Returns the network interfaces, then the InfiniBand ports. root: where sys is, for tests.
std::vector<Wire> all_wires(const std::filesystem::path& root);

// Returns "up, 25 Gbit/s, MTU 9000".
std::string wire_text(const Wire& wire);

// Returns what an interface or InfiniBand device can carry in one direction, bytes per second: less than its port says
// if the device has few PCI Express lanes, whether all work now or not. 0: the host does not say. interface: empty:
// the fastest that is up.
double wire_rate(const std::string& interface, const std::string& root = "");
// Returns of each wire that is up and that its PCI Express link cannot fill now: "eth0 carries 25 GB/s, its
// PCIe link 15.8 GB/s (16 GT/s x8 of 32 GT/s x16)".
std::vector<std::string> throttled_wires(const std::string& root = "");

}  // namespace ccl_tests::acceptance
