#include "tools/acceptance/host/facts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/acceptance/host/files.hpp"
#include "tools/acceptance/host/interfaces.hpp"

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
    facts["link " + wire.name] = described(wire);
    if (wire.pci) facts["pci " + wire.name] = text(*wire.pci);
  }
  for (const Wire& wire : infiniband_ports(root)) {
    facts["infiniband " + wire.name] = described(wire);
    if (wire.pci) facts["pci " + wire.name] = text(*wire.pci);
  }
  const fs::path devices = root / "sys/class/infiniband";
  for (const std::string& device : names_in(devices))
    if (std::string firmware = line_in(devices / device / "fw_ver"); !firmware.empty())
      facts["firmware " + device] = std::move(firmware);
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

std::string to_text(const Facts& facts) {
  return nlohmann::json(facts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
Facts facts_of(const std::string& text) { return nlohmann::json::parse(text).get<Facts>(); }

}  // namespace ccl_tests::acceptance
