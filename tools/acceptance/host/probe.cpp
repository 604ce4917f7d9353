#include "tools/acceptance/host/probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include "tools/acceptance/host/interfaces.hpp"
#include "tools/acceptance/host/nvml.hpp"

namespace ccl_tests::acceptance {
namespace {

namespace fs = std::filesystem;

void add_gpus(Facts& facts, const fs::path& root) {
  const fs::path nvidia = root / "proc/driver/nvidia";
  const std::string version = line_in(nvidia / "version");
  if (!version.empty()) facts["gpu driver"] = version;
  std::map<std::string, int> models;
  for (const std::string& gpu : names_in(nvidia / "gpus"))
    ++models[value_in(nvidia / "gpus" / gpu / "information", "Model")];
  std::string text;
  for (const auto& [model, number] : models)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", number, model);
  if (!text.empty()) facts["gpus"] = text;
}

int cpus_in(const std::string& cpuinfo) {
  constexpr std::string_view begin = "processor";
  int cpus = cpuinfo.starts_with(begin) ? 1 : 0;
  const std::string later = fmt::format("\n{}", begin);
  for (std::size_t at = 0; (at = cpuinfo.find(later, at)) != std::string::npos; ++at) ++cpus;
  return cpus;
}

void add_wires(Facts& facts, const fs::path& root) {
  for (const Wire& wire : network_interfaces(root)) {
    facts["link " + wire.name] = wire_text(wire);
    if (wire.pci) facts["pci " + wire.name] = text(*wire.pci);
  }
  for (const Wire& wire : infiniband_ports(root)) {
    facts["infiniband " + wire.name] = wire_text(wire);
    if (wire.pci) facts["pci " + wire.name] = text(*wire.pci);
  }
  const fs::path devices = root / "sys/class/infiniband";
  for (const std::string& device : names_in(devices))
    if (std::string firmware = line_in(devices / device / "fw_ver"); !firmware.empty())
      facts["firmware " + device] = std::move(firmware);
}

void add_pci(Counters& counters, const fs::path& device, const std::string& name) {
  for (const auto& [kind, count] : pci_errors(device))
    counters[fmt::format("{} {}", kind, name)] = count;
}

// Bytes and errors of all interfaces of this process's network namespace, which /sys may not show.
void add_interfaces(Counters& counters, const fs::path& root) {
  std::ifstream in(root / "proc/net/dev");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t received = 0, packets = 0, receive_errors = 0, ignored = 0, sent = 0, errors = 0;
    numbers >> received >> packets >> receive_errors;
    for (int k = 0; k < 5; ++k) numbers >> ignored;  // drop fifo frame compressed multicast
    if (!(numbers >> sent >> ignored >> errors)) continue;
    const std::string name =
        line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    counters["received " + name] = received;
    counters["sent " + name] = sent;
    counters["errors " + name] = receive_errors + errors;
    add_pci(counters, root / "sys/class/net" / name / "device", name);
  }
}

void add_infiniband(Counters& counters, const fs::path& root) {
  constexpr std::uint64_t bytes_of_word = 4;  // these two count lanes' words of 4 bytes
  static constexpr std::pair<const char*, const char*> troubles[] = {
      {"symbol_error", "symbol errors"},
      {"link_error_recovery", "recoveries"},
      {"link_downed", "link downs"},
      {"port_rcv_errors", "receive errors"},
      {"local_link_integrity_errors", "integrity errors"}};
  // Drivers that count bytes of RDMA elsewhere (ionic) leave the files of words empty.
  static constexpr std::tuple<const char*, const char*, const char*> traffic[] = {
      {"received", "port_rcv_data", "rx_rdma_ucast_bytes"},
      {"sent", "port_xmit_data", "tx_rdma_ucast_bytes"}};
  const fs::path devices = root / "sys/class/infiniband";
  for (const Wire& wire : infiniband_ports(root)) {
    const std::size_t slash = wire.name.find('/');
    const fs::path device = devices / wire.name.substr(0, slash);
    const fs::path port = device / "ports" / wire.name.substr(slash + 1);
    for (const auto& [way, words, bytes] : traffic) {
      const std::string name = fmt::format("{} {}", way, wire.name);
      if (const auto count = count_in(port / "counters" / words))
        counters[name] = bytes_of_word * *count;
      else if (const auto rdma = count_in(port / "hw_counters" / bytes))
        counters[name] = *rdma;
    }
    for (const auto& [file, text] : troubles)
      if (const auto count = count_in(port / "counters" / file))
        counters[fmt::format("{} {}", text, wire.name)] = *count;
    add_pci(counters, device / "device", wire.name);
  }
}

// /proc/net/snmp has a line of names and a line of values for each protocol.
void add_retransmits(Counters& counters, const fs::path& root) {
  std::ifstream in(root / "proc/net/snmp");
  std::string names;
  for (std::string line; std::getline(in, line); names = line) {
    if (!line.starts_with("Tcp:") || !names.starts_with("Tcp:")) continue;
    std::istringstream name_words(names), values(line);
    for (std::string name, value; name_words >> name && values >> value;)
      if (name == "RetransSegs")
        counters["retransmits"] = static_cast<std::uint64_t>(leading_number(value));
  }
}

}  // namespace

Facts host_facts(const std::string& root) {
  const fs::path at = root + "/";
  Facts facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts[name] = std::move(value);
  };
  add("kernel", line_in(at / "proc/sys/kernel/osrelease"));
  add("os", value_in(at / "etc/os-release", "PRETTY_NAME"));
  add("cpu", value_in(at / "proc/cpuinfo", "model name"));
  const std::string cpuinfo = text_of(at / "proc/cpuinfo");
  if (!cpuinfo.empty()) facts["cpus"] = std::to_string(cpus_in(cpuinfo));
  constexpr double gib_in_kib = 1 << 20;
  const double kib = leading_number(value_in(at / "proc/meminfo", "MemTotal"));
  if (kib > 0) facts["memory"] = fmt::format("{:.0f} GiB", kib / gib_in_kib);
  add("governor", line_in(at / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add_gpus(facts, at);
  add_wires(facts, at);
  return facts;
}

Counters host_counters(const std::string& root) {
  const fs::path at = root + "/";
  Counters counters;
  add_interfaces(counters, at);
  add_infiniband(counters, at);
  add_retransmits(counters, at);
  return counters;
}

HostDescription RealHost::describe(const std::string& interface) const {
  const std::vector<NvmlGpu> gpus = nvml_gpus();
  HostDescription description{host_facts(), throttled_wires(), 0, slowest_nvlink(gpus)};
  description.facts.merge(facts_of_gpus(gpus));
  const std::vector<std::string> all = wires();
  if (!interface.empty())
    description.wire_rate = wire_rate(interface);
  else if (!all.empty())
    description.wire_rate = wire_rate(all.front());
  return description;
}

Counters RealHost::counters() const {
  Counters counters = host_counters();
  counters.merge(counters_of_gpus(nvml_gpus()));
  return counters;
}

}  // namespace ccl_tests::acceptance
