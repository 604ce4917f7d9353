#include "tools/acceptance/host/counters.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "tools/acceptance/host/files.hpp"
#include "tools/acceptance/host/interfaces.hpp"

namespace ccl_tests::acceptance {
namespace {

namespace fs = std::filesystem;

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

Counters host_counters(const std::string& root) {
  const fs::path at = root + "/";
  Counters counters;
  add_interfaces(counters, at);
  add_infiniband(counters, at);
  add_retransmits(counters, at);
  return counters;
}

std::string to_text(const Counters& counters) { return nlohmann::json(counters).dump(); }
Counters counters_of(const std::string& text) {
  return nlohmann::json::parse(text).get<Counters>();
}

}  // namespace ccl_tests::acceptance
