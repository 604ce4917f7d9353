// PCI devices, and the wires that lead out of the host: network interfaces and InfiniBand ports.
#include "tools/acceptance/host/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>
#include <utility>

#include "src/core/serialize.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {

namespace fs = std::filesystem;

std::string line_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::string value_in(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::size_t at = line.find_first_of(":=", name.size());
    if (at == std::string::npos) continue;
    at = line.find_first_not_of(" \t:=\"", at);
    if (at == std::string::npos) return {};
    return line.substr(at, line.find_last_not_of(" \t\"") - at + 1);
  }
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::optional<std::uint64_t> count_in(const fs::path& file) {
  const std::string line = line_in(file);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

namespace {

constexpr double giga = 1e9, bits = 8;

// "16.0 GT/s PCIe", "8", "Unknown".
PciSpeed speed_in(const fs::path& device, const std::string& which) {
  constexpr int most_lanes = 32;  // 255 and 63 mean: not known
  const double lanes = parse_number(line_in(device / (which + "_link_width")));
  if (lanes < 1 || lanes > most_lanes) return {};
  return {parse_number(line_in(device / (which + "_link_speed"))), static_cast<int>(lanes)};
}

// device: its folder in /sys. Returns nullopt if it says nothing: virtual functions, other buses.
std::optional<PciLink> pci_link(const fs::path& device) {
  const PciLink link{speed_in(device, "current"), speed_in(device, "max")};
  if (bytes_per_second(link.now) <= 0) return std::nullopt;
  return link;
}

std::string text(const PciSpeed& speed) {
  return fmt::format("{:g} GT/s x{}", speed.transfers, speed.lanes);
}

Wire network_interface(const fs::path& folder) {
  Wire wire{.name = folder.filename().string(),
            .folder = folder,
            .state = line_in(folder / "operstate"),
            .mtu = line_in(folder / "mtu"),
            .pci = pci_link(folder / "device")};
  const double megabits = parse_number(line_in(folder / "speed"));
  if (megabits > 0) {
    wire.bytes_per_s = megabits * 1e6 / bits;
    wire.rate = megabits >= 1000 ? fmt::format("{:g} Gbit/s", megabits / 1000)
                                 : fmt::format("{:g} Mbit/s", megabits);
  }
  // Bridges, pairs of virtual interfaces and the like say rates that no wire has.
  const bool is_wire = fs::exists(folder / "device") || fs::exists(folder / "bonding");
  wire.up = wire.state == "up" && is_wire;
  return wire;
}

Wire infiniband_port(const fs::path& device, const std::string& port) {
  const fs::path folder = device / "ports" / port;
  Wire wire{.name = device.filename().string() + '/' + port,
            .folder = folder,
            .state = line_in(folder / "state"),  // "4: ACTIVE"
            .rate = line_in(folder / "rate"),    // "400 Gb/sec (4X NDR)"
            .pci = pci_link(device / "device")};
  wire.infiniband = true;
  wire.bytes_per_s = parse_number(wire.rate) * giga / bits;
  wire.up = wire.state.ends_with("ACTIVE");
  return wire;
}

double most_of(const Wire& wire) {
  const double pci = wire.pci ? bytes_per_second(wire.pci->most) : 0;
  return pci > 0 ? std::min(wire.bytes_per_s, pci) : wire.bytes_per_s;
}

}  // namespace

double bytes_per_second(const PciSpeed& speed) {
  const double coding = speed.transfers <= 5    ? 8.0 / 10
                        : speed.transfers <= 32 ? 128.0 / 130
                                                : 242.0 / 256;
  return speed.transfers * giga * speed.lanes * coding / bits;
}

std::string text(const PciLink& link) {
  if (bytes_per_second(link.most) <= bytes_per_second(link.now)) return text(link.now);
  return fmt::format("{} of {}", text(link.now), text(link.most));
}

std::map<std::string, std::uint64_t> pci_errors(const fs::path& device) {
  static constexpr std::pair<const char*, const char*> severities[] = {
      {"aer_dev_correctable", "PCIe corrected errors"},
      {"aer_dev_nonfatal", "PCIe nonfatal errors"},
      {"aer_dev_fatal", "PCIe fatal errors"}};
  std::map<std::string, std::uint64_t> errors;
  for (const auto& [file, name] : severities) {
    std::ifstream in(device / file);  // "RxErr 0", ..., "TOTAL_ERR_COR 0"
    std::string kind;
    for (std::uint64_t count = 0; in >> kind >> count;)
      if (kind.starts_with("TOTAL_")) errors[name] = count;
  }
  return errors;
}

std::vector<Wire> all_wires(const fs::path& root) {
  std::vector<Wire> all;
  const fs::path net = root / "sys/class/net", devices = root / "sys/class/infiniband";
  for (const std::string& name : names_in(net))
    if (name != "lo" && fs::exists(net / name / "operstate"))
      all.push_back(network_interface(net / name));
  for (const std::string& device : names_in(devices))
    for (const std::string& port : names_in(devices / device / "ports"))
      all.push_back(infiniband_port(devices / device, port));
  return all;
}

std::string wire_text(const Wire& wire) {
  std::string text = wire.state;
  if (!wire.rate.empty()) text += ", " + wire.rate;
  if (!wire.mtu.empty()) text += ", MTU " + wire.mtu;
  return text;
}

double wire_rate(const std::string& interface, const std::string& root) {
  double fastest = 0;
  for (const Wire& wire : all_wires(root + "/")) {
    if (wire.name == interface || wire.name.starts_with(interface + '/')) return most_of(wire);
    if (interface.empty() && wire.up) fastest = std::max(fastest, most_of(wire));
  }
  return fastest;
}

std::vector<std::string> throttled_wires(const std::string& root) {
  std::vector<std::string> all;
  for (const Wire& wire : all_wires(root + "/")) {
    if (!wire.up || !wire.pci) continue;
    const double pci = bytes_per_second(wire.pci->now);
    if (pci < most_of(wire))
      all.push_back(fmt::format("{} carries {}, its PCIe link {} ({})", wire.name,
                                rate_text(most_of(wire)), rate_text(pci), text(*wire.pci)));
  }
  return all;
}

}  // namespace ccl_tests::acceptance
