#include "tools/acceptance/host/interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/acceptance/host/files.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

namespace fs = std::filesystem;

std::vector<Wire> all_wires(const fs::path& root) {
  std::vector<Wire> all = network_interfaces(root);
  const std::vector<Wire> ports = infiniband_ports(root);
  all.insert(all.end(), ports.begin(), ports.end());
  return all;
}

double most_of(const Wire& wire) {
  const double pci = wire.pci ? bytes_per_second(wire.pci->most) : 0;
  return pci > 0 ? std::min(wire.bytes_per_s, pci) : wire.bytes_per_s;
}

}  // namespace

std::vector<Wire> network_interfaces(const fs::path& root) {
  constexpr double bytes_per_megabit = 1e6 / 8;
  std::vector<Wire> all;
  const fs::path net = root / "sys/class/net";
  for (const std::string& name : names_in(net)) {
    if (name == "lo" || !fs::exists(net / name / "operstate")) continue;
    Wire wire{.name = name,
              .state = line_in(net / name / "operstate"),
              .mtu = line_in(net / name / "mtu"),
              .pci = pci_link(net / name / "device")};
    const double megabits = leading_number(line_in(net / name / "speed"));
    if (megabits > 0) {
      wire.bytes_per_s = megabits * bytes_per_megabit;
      wire.rate = megabits >= 1000 ? fmt::format("{:g} Gbit/s", megabits / 1000)
                                   : fmt::format("{:g} Mbit/s", megabits);
    }
    // Bridges, pairs of virtual interfaces and the like say rates that no wire has.
    const bool is_wire = fs::exists(net / name / "device") || fs::exists(net / name / "bonding");
    wire.up = wire.state == "up" && is_wire;
    all.push_back(std::move(wire));
  }
  return all;
}

std::vector<Wire> infiniband_ports(const fs::path& root) {
  constexpr double bytes_per_gigabit = 1e9 / 8;
  std::vector<Wire> all;
  const fs::path devices = root / "sys/class/infiniband";
  for (const std::string& device : names_in(devices)) {
    for (const std::string& port : names_in(devices / device / "ports")) {
      const fs::path folder = devices / device / "ports" / port;
      Wire wire{.name = device + '/' + port,
                .state = line_in(folder / "state"),  // "4: ACTIVE"
                .rate = line_in(folder / "rate"),    // "400 Gb/sec (4X NDR)"
                .pci = pci_link(devices / device / "device")};
      wire.bytes_per_s = leading_number(wire.rate) * bytes_per_gigabit;
      wire.up = wire.state.ends_with("ACTIVE");
      all.push_back(std::move(wire));
    }
  }
  return all;
}

std::string described(const Wire& wire) {
  std::string text = wire.state;
  if (!wire.rate.empty()) text += ", " + wire.rate;
  if (!wire.mtu.empty()) text += ", MTU " + wire.mtu;
  return text;
}

double wire_rate(const std::string& interface, const std::string& root) {
  for (const Wire& wire : all_wires(root + "/")) {
    const bool is_it = wire.name == interface || wire.name.starts_with(interface + '/');
    if (is_it) return most_of(wire);
  }
  return 0;
}

std::vector<std::string> wires(const std::string& root) {
  std::vector<Wire> up = all_wires(root + "/");
  std::erase_if(up, [](const Wire& wire) { return !wire.up; });
  std::stable_sort(up.begin(), up.end(),
                   [](const Wire& a, const Wire& b) { return most_of(a) > most_of(b); });
  std::vector<std::string> names;
  for (const Wire& wire : up) names.push_back(wire.name);
  return names;
}

std::vector<std::string> throttled_wires(const std::string& root) {
  std::vector<std::string> all;
  for (const Wire& wire : all_wires(root + "/")) {
    if (!wire.up || !wire.pci) continue;
    const double pci = bytes_per_second(wire.pci->now);
    if (pci >= most_of(wire)) continue;
    all.push_back(fmt::format("{} carries {}, its PCIe link {} ({})", wire.name,
                              rate_text(most_of(wire)), rate_text(pci), text(*wire.pci)));
  }
  return all;
}

}  // namespace ccl_tests::acceptance
