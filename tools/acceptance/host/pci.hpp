// A device's PCI Express link, as the kernel's files describe it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ccl_tests::acceptance {

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

}  // namespace ccl_tests::acceptance
