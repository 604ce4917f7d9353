#include "tools/acceptance/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/error.hpp"

namespace ccl_tests::acceptance {
namespace {

namespace fs = std::filesystem;

// The first line, without blanks around it; empty: no such file, or none that can be read.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// What stands behind "name:" or "name=" in the first line that begins so.
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
  std::sort(names.begin(), names.end());
  return names;
}

double number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : 0;
}

struct Wire {
  std::string name = {};  // "eth0", "mlx5_0/1"
  std::string state = {}, rate = {}, mtu = {};
  double bytes_per_s = 0;
  bool up = false;
};

std::vector<Wire> network_interfaces(const fs::path& root) {
  constexpr double bytes_per_megabit = 1e6 / 8;
  std::vector<Wire> all;
  const fs::path net = root / "sys/class/net";
  for (const std::string& name : names_in(net)) {
    if (name == "lo" || !fs::exists(net / name / "operstate")) continue;
    Wire wire{.name = name,
              .state = line_of(net / name / "operstate"),
              .mtu = line_of(net / name / "mtu")};
    const double megabits = number_of(line_of(net / name / "speed"));
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
                .state = line_of(folder / "state"),  // "4: ACTIVE"
                .rate = line_of(folder / "rate")};   // "400 Gb/sec (4X NDR)"
      wire.bytes_per_s = number_of(wire.rate) * bytes_per_gigabit;
      wire.up = wire.state.ends_with("ACTIVE");
      all.push_back(std::move(wire));
    }
  }
  return all;
}

std::vector<Wire> all_wires(const fs::path& root) {
  std::vector<Wire> all = network_interfaces(root);
  const std::vector<Wire> ports = infiniband_ports(root);
  all.insert(all.end(), ports.begin(), ports.end());
  return all;
}

std::string described(const Wire& wire) {
  std::string text = wire.state;
  if (!wire.rate.empty()) text += ", " + wire.rate;
  if (!wire.mtu.empty()) text += ", MTU " + wire.mtu;
  return text;
}

void add_gpus(std::map<std::string, std::string>& facts, const fs::path& root) {
  const fs::path nvidia = root / "proc/driver/nvidia";
  const std::string version = line_of(nvidia / "version");
  if (!version.empty()) facts["gpu driver"] = version;
  std::map<std::string, int> models;
  for (const std::string& gpu : names_in(nvidia / "gpus"))
    ++models[value_in(nvidia / "gpus" / gpu / "information", "Model")];
  std::string text;
  for (const auto& [model, number] : models)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", number, model);
  if (!text.empty()) facts["gpus"] = text;
}

// Bytes and errors of all interfaces of this process's network namespace, which /sys may not show.
void add_interfaces(std::map<std::string, std::uint64_t>& counters, const fs::path& root) {
  std::ifstream in(root / "proc/net/dev");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t received = 0, packets = 0, receive_errors = 0, ignored = 0, sent = 0, errors = 0;
    numbers >> received >> packets >> receive_errors;
    for (int k = 0; k < 5; ++k) numbers >> ignored;  // drop fifo frame compressed multicast
    numbers >> sent >> ignored >> errors;
    const std::string name =
        line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    counters["received " + name] = received;
    counters["sent " + name] = sent;
    counters["errors " + name] = receive_errors + errors;
  }
}

void add_infiniband(std::map<std::string, std::uint64_t>& counters, const fs::path& root) {
  constexpr std::uint64_t bytes_of_word = 4;  // these two count lanes' words of 4 bytes
  static constexpr std::pair<const char*, const char*> troubles[] = {
      {"symbol_error", "symbol errors"},
      {"link_error_recovery", "recoveries"},
      {"link_downed", "link downs"},
      {"port_rcv_errors", "receive errors"},
      {"local_link_integrity_errors", "integrity errors"}};
  const fs::path devices = root / "sys/class/infiniband";
  const auto number = [](const fs::path& file) {
    return static_cast<std::uint64_t>(number_of(line_of(file)));
  };
  for (const Wire& wire : infiniband_ports(root)) {
    const std::size_t slash = wire.name.find('/');
    const fs::path folder =
        devices / wire.name.substr(0, slash) / "ports" / wire.name.substr(slash + 1) / "counters";
    counters["received " + wire.name] = bytes_of_word * number(folder / "port_rcv_data");
    counters["sent " + wire.name] = bytes_of_word * number(folder / "port_xmit_data");
    for (const auto& [file, text] : troubles)
      counters[fmt::format("{} {}", text, wire.name)] = number(folder / file);
  }
}

// /proc/net/snmp has a line of names and a line of values for each protocol.
void add_retransmits(std::map<std::string, std::uint64_t>& counters, const fs::path& root) {
  std::ifstream in(root / "proc/net/snmp");
  std::string names;
  for (std::string line; std::getline(in, line); names = line) {
    if (!line.starts_with("Tcp:") || !names.starts_with("Tcp:")) continue;
    std::istringstream name_words(names), values(line);
    for (std::string name, value; name_words >> name && values >> value;)
      if (name == "RetransSegs")
        counters["retransmits"] = static_cast<std::uint64_t>(number_of(value));
  }
}

}  // namespace

std::map<std::string, std::string> host_facts(const std::string& root) {
  const fs::path at = root + "/";
  std::map<std::string, std::string> facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts[name] = std::move(value);
  };
  add("kernel", line_of(at / "proc/sys/kernel/osrelease"));
  add("os", value_in(at / "etc/os-release", "PRETTY_NAME"));
  add("cpu", value_in(at / "proc/cpuinfo", "model name"));
  const std::string cpuinfo = text_of(at / "proc/cpuinfo");
  int cpus = 0;
  for (std::size_t found = 0; (found = cpuinfo.find("\nprocessor", found)) != std::string::npos;
       ++found)
    ++cpus;
  if (!cpuinfo.empty()) facts["cpus"] = std::to_string(cpus + (cpuinfo[0] == 'p' ? 1 : 0));
  constexpr double gib_in_kib = 1 << 20;
  const double kib = number_of(value_in(at / "proc/meminfo", "MemTotal"));
  if (kib > 0) facts["memory"] = fmt::format("{:.0f} GiB", kib / gib_in_kib);
  add("governor", line_of(at / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add_gpus(facts, at);
  for (const Wire& wire : network_interfaces(at)) facts["link " + wire.name] = described(wire);
  for (const Wire& wire : infiniband_ports(at)) facts["infiniband " + wire.name] = described(wire);
  for (const std::string& device : names_in(at / "sys/class/infiniband"))
    if (std::string firmware = line_of(at / "sys/class/infiniband" / device / "fw_ver");
        !firmware.empty())
      facts["firmware " + device] = std::move(firmware);
  return facts;
}

std::map<std::string, std::uint64_t> host_counters(const std::string& root) {
  const fs::path at = root + "/";
  std::map<std::string, std::uint64_t> counters;
  add_interfaces(counters, at);
  add_infiniband(counters, at);
  add_retransmits(counters, at);
  return counters;
}

double wire_rate(const std::string& interface, const std::string& root) {
  for (const Wire& wire : all_wires(root + "/")) {
    const bool is_it = wire.name == interface || wire.name.starts_with(interface + '/');
    if (is_it) return wire.bytes_per_s;
  }
  return 0;
}

std::vector<std::string> wires(const std::string& root) {
  std::vector<Wire> up = all_wires(root + "/");
  std::erase_if(up, [](const Wire& wire) { return !wire.up; });
  std::stable_sort(up.begin(), up.end(),
                   [](const Wire& a, const Wire& b) { return a.bytes_per_s > b.bytes_per_s; });
  std::vector<std::string> names;
  for (const Wire& wire : up) names.push_back(wire.name);
  return names;
}

std::string to_text(const std::map<std::string, std::string>& facts) {
  return nlohmann::json(facts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
std::string to_text(const std::map<std::string, std::uint64_t>& counters) {
  return nlohmann::json(counters).dump();
}
std::map<std::string, std::string> facts_of(const std::string& text) {
  return nlohmann::json::parse(text).get<std::map<std::string, std::string>>();
}
std::map<std::string, std::uint64_t> counters_of(const std::string& text) {
  return nlohmann::json::parse(text).get<std::map<std::string, std::uint64_t>>();
}

}  // namespace ccl_tests::acceptance
