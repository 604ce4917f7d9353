// The wires that lead out of a host: network interfaces and InfiniBand ports.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/acceptance/host/files.hpp"

namespace ccl_tests::acceptance {

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
std::string described(const Wire& wire);

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
