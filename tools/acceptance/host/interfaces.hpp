// The files in which a host's kernel says what there is: PCI devices, and the wires that lead out of the host, network
// interfaces and InfiniBand ports.
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

// Returns the first line, without blanks around it.
std::string line_in(const std::filesystem::path& file);
std::string text_of(const std::filesystem::path& file);
// Returns what stands behind "name:" or "name=" in the first line that begins so.
std::string value_in(const std::filesystem::path& file, std::string_view name);
// Returns the names of what lies in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);
// Returns the count in the file's first line; nullopt if the file is not there, is empty, or has none.
std::optional<std::uint64_t> count_in(const std::filesystem::path& file);
// Returns the number that a text begins with; 0 if it begins with none.
double leading_number(std::string_view text);

// Lanes, and what each carries: 10^9 transfers per second.
struct PciSpeed {
  double transfers = 0;
  int lanes = 0;
};

struct PciLink {
  PciSpeed now, most;  // most: what the device can, in a slot that can
};

// device: its folder in /sys. Returns nullopt if it says nothing: virtual functions, other buses.
std::optional<PciLink> pci_link(const std::filesystem::path& device);

// Returns what a link carries in one direction, bytes per second, without the line's coding (8b/10b up to
// 5 GT/s, 128b/130b up to 32, 242 of 256 bytes of a flit from 64 on: PCI Express Base 6.0); packets'
// headers take some of it.
double bytes_per_second(const PciSpeed& speed);

// Returns "32 GT/s x16", or "16 GT/s x8 of 32 GT/s x16" if it is slower than the device can be.
std::string text(const PciLink& link);

// Returns errors that the device has counted, by severity: "PCIe corrected errors", "PCIe fatal errors",
// "PCIe nonfatal errors".
std::map<std::string, std::uint64_t> pci_errors(const std::filesystem::path& device);

struct Wire {
  std::string name = {};  // "eth0", "mlx5_0/1"
  std::string state = {}, rate = {}, mtu = {};
  double bytes_per_s = 0;  // in one direction, as the wire says; 0: it does not
  bool up = false;
  std::optional<PciLink> pci = {};  // of its device
};

// root: where sys is, for tests.
std::vector<Wire> network_interfaces(const std::filesystem::path& root);
std::vector<Wire> infiniband_ports(const std::filesystem::path& root);

// Returns "up, 25 Gbit/s, MTU 9000".
std::string wire_text(const Wire& wire);

// Returns what a network interface or an InfiniBand device can carry in one direction, which may be less
// than its port says because its device has few PCI Express lanes; lanes that are out of order now do not
// count. Bytes per second; 0: the host does not say.
double wire_rate(const std::string& interface, const std::string& root = "");
// Returns the names of the wires that are up and lead somewhere, the fastest first.
std::vector<std::string> wires(const std::string& root = "");
// Returns of each wire that is up and that its PCI Express link cannot fill now: "eth0 carries 25 GB/s, its
// PCIe link 15.8 GB/s (16 GT/s x8 of 32 GT/s x16)".
std::vector<std::string> throttled_wires(const std::string& root = "");

}  // namespace ccl_tests::acceptance
