#include "tools/acceptance/host/probe.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <tuple>
#include <utility>

#include "src/core/serialize.hpp"

namespace ccl_tests::acceptance {
namespace {

// The part of the library's interface that is used, from NVIDIA's "NVML API Reference Guide". All of it has been the
// same since driver 450; every function returns 0 on success.
using Gpu = void*;
struct ViolationTime {
  unsigned long long reference_us, violation_ns;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp_us, latency_us;
  unsigned type;  // of value
  int status;
  union {
    double real;
    unsigned number;
    unsigned long long large;
  } value;
};
constexpr unsigned unsigned_type = 1;        // NVML_VALUE_TYPE_UNSIGNED_INT
constexpr unsigned nvlink_speed_field = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: 10^6 B/s
constexpr unsigned most_nvlinks = 18;        // NVML_NVLINK_MAX_LINKS
constexpr int clock_sm = 1, clock_memory = 2;
constexpr int corrected = 0, uncorrected = 1;
constexpr int since_driver = 0;           // NVML_VOLATILE_ECC
constexpr int by_heat = 1, by_board = 3;  // NVML_PERF_POLICY_*
constexpr int nvlink_error_kinds = 4;     // replays, recoveries, CRC of flits and of data

// A function of the library.
template <class... A>
class Function {
 public:
  Function(void* library, const char* name)
      : call_(reinterpret_cast<int (*)(A...)>(::dlsym(library, name))) {}
  // Returns false if the library has no such function, or it fails.
  bool operator()(A... arguments) const { return call_ != nullptr && call_(arguments...) == 0; }

 private:
  int (*call_)(A...);
};

struct Api {
  void* library;
  Function<> init{library, "nvmlInit_v2"};
  Function<unsigned*> count{library, "nvmlDeviceGetCount_v2"};
  Function<unsigned, Gpu*> gpu{library, "nvmlDeviceGetHandleByIndex_v2"};
  Function<Gpu, int, unsigned*> max_clock{library, "nvmlDeviceGetMaxClockInfo"};
  Function<Gpu, unsigned*> power_limit{library, "nvmlDeviceGetEnforcedPowerLimit"};
  Function<Gpu, int*, int*> ecc_mode{library, "nvmlDeviceGetEccMode"};
  Function<Gpu, int, int, unsigned long long*> ecc_errors{library, "nvmlDeviceGetTotalEccErrors"};
  Function<Gpu, unsigned*, unsigned*, unsigned*, unsigned*> remapped_rows{
      library, "nvmlDeviceGetRemappedRows"};
  Function<Gpu, unsigned*> pcie_width{library, "nvmlDeviceGetCurrPcieLinkWidth"};
  Function<Gpu, unsigned*> pcie_most_width{library, "nvmlDeviceGetMaxPcieLinkWidth"};
  Function<Gpu, unsigned*> pcie_replays{library, "nvmlDeviceGetPcieReplayCounter"};
  Function<Gpu, unsigned, int*> nvlink_state{library, "nvmlDeviceGetNvLinkState"};
  Function<Gpu, unsigned, int, unsigned long long*> nvlink_errors{
      library, "nvmlDeviceGetNvLinkErrorCounter"};
  // Structs are passed as void*: a function that takes a type of ours is not the library's (UBSan).
  Function<Gpu, int, void*> violations{library, "nvmlDeviceGetViolationStatus"};
  Function<Gpu, int, void*> fields{library, "nvmlDeviceGetFieldValues"};
};

// Returns null if the library is not available.
std::unique_ptr<Api> open(const std::string& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto api = std::make_unique<Api>(Api{library});
  return api->init() ? std::move(api) : nullptr;
}

void add_settings(const Api& api, Gpu gpu, NvmlGpu& found) {
  unsigned clock = 0, memory = 0;
  if (api.max_clock(gpu, clock_sm, &clock) && api.max_clock(gpu, clock_memory, &memory))
    found.facts["clocks"] = fmt::format("at most {} MHz, memory {} MHz", clock, memory);
  unsigned milliwatts = 0;
  if (api.power_limit(gpu, &milliwatts))
    found.facts["power limit"] = fmt::format("{:g} W", milliwatts / 1000.0);
  int ecc = 0, pending = 0;
  if (api.ecc_mode(gpu, &ecc, &pending)) found.facts["ecc"] = ecc != 0 ? "on" : "off";
  unsigned width = 0, most = 0;
  if (api.pcie_width(gpu, &width) && api.pcie_most_width(gpu, &most))
    found.facts["pcie"] = fmt::format("x{} of x{}", width, most);
}

void add_nvlinks(const Api& api, Gpu gpu, NvmlGpu& found) {
  unsigned links = 0, up = 0;
  std::uint64_t errors = 0;
  for (unsigned link = 0; link < most_nvlinks; ++link) {
    int active = 0;
    if (!api.nvlink_state(gpu, link, &active)) continue;
    ++links;
    up += active != 0 ? 1 : 0;
    for (int kind = 0; kind < nvlink_error_kinds; ++kind) {
      unsigned long long count = 0;
      if (api.nvlink_errors(gpu, link, kind, &count)) errors += count;
    }
  }
  if (links == 0) return;
  found.counters["NVLink errors"] = errors;
  std::string each;
  FieldValue speed{};
  speed.field = nvlink_speed_field;
  if (api.fields(gpu, 1, &speed) && speed.status == 0 && speed.type == unsigned_type) {
    const double bytes_per_s = 1e6 * speed.value.number;
    found.nvlink_bytes_per_s = up * bytes_per_s;
    each = fmt::format(", {:.3g} GB/s each", bytes_per_s / 1e9);
  }
  found.facts["nvlinks"] = fmt::format("{} of {} up{}", up, links, each);
}

void add_counters(const Api& api, Gpu gpu, NvmlGpu& found) {
  const auto add_ecc = [&](const char* name, int kind) {
    unsigned long long count = 0;
    if (api.ecc_errors(gpu, kind, since_driver, &count)) found.counters[name] = count;
  };
  add_ecc("corrected memory errors", corrected);
  add_ecc("uncorrected memory errors", uncorrected);
  unsigned was_corrected = 0, was_not = 0, pending = 0, failed = 0;
  if (api.remapped_rows(gpu, &was_corrected, &was_not, &pending, &failed))
    found.counters["rows to be remapped"] = pending;
  unsigned replays = 0;
  if (api.pcie_replays(gpu, &replays)) found.counters["PCIe replays"] = replays;
  const auto add_slowed = [&](const char* name, int policy) {
    constexpr std::uint64_t ns_of_ms = 1'000'000;
    ViolationTime time{};
    if (api.violations(gpu, policy, &time)) found.counters[name] = time.violation_ns / ns_of_ms;
  };
  add_slowed("ms slowed down by heat", by_heat);
  add_slowed("ms slowed down by the board", by_board);
}

// Returns "7 x on, 1 x off".
std::string counts_text(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [value, number] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", number, value);
  return text;
}

namespace fs = std::filesystem;

void add_gpus(Facts& facts, const fs::path& root) {
  const fs::path nvidia = root / "proc/driver/nvidia";
  const std::string version = line_in(nvidia / "version");
  if (!version.empty()) facts["gpu driver"] = version;
  std::map<std::string, std::size_t> models;
  for (const std::string& gpu : names_in(nvidia / "gpus"))
    ++models[value_in(nvidia / "gpus" / gpu / "information", "Model")];
  if (!models.empty()) facts["gpus"] = counts_text(models);
}

void add_wires(Facts& facts, const fs::path& root) {
  for (const Wire& wire : all_wires(root)) {
    facts[(wire.infiniband ? "infiniband " : "link ") + wire.name] = wire_text(wire);
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
  for (const Wire& wire : all_wires(root)) {
    if (!wire.infiniband) continue;
    for (const auto& [way, words, bytes] : traffic) {
      const std::string name = fmt::format("{} {}", way, wire.name);
      if (const auto count = count_in(wire.folder / "counters" / words))
        counters[name] = bytes_of_word * *count;
      else if (const auto rdma = count_in(wire.folder / "hw_counters" / bytes))
        counters[name] = *rdma;
    }
    for (const auto& [file, text] : troubles)
      if (const auto count = count_in(wire.folder / "counters" / file))
        counters[fmt::format("{} {}", text, wire.name)] = *count;
    add_pci(counters, wire.folder / "../../device", wire.name);
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
        counters["retransmits"] = static_cast<std::uint64_t>(parse_number(value));
  }
}

}  // namespace

std::vector<NvmlGpu> nvml_gpus(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Api>> libraries;
  const std::lock_guard lock(mutex);
  const auto [known, fresh] = libraries.try_emplace(file);
  if (fresh) known->second = open(file);
  std::vector<NvmlGpu> gpus;
  unsigned number = 0;
  if (!known->second || !known->second->count(&number)) return gpus;
  const Api& api = *known->second;
  for (unsigned index = 0; index < number; ++index) {
    Gpu gpu = nullptr;
    NvmlGpu& found = gpus.emplace_back();
    if (!api.gpu(index, &gpu)) continue;  // one that has fallen off the bus says nothing
    add_settings(api, gpu, found);
    add_nvlinks(api, gpu, found);
    add_counters(api, gpu, found);
  }
  return gpus;
}

Facts facts_of_gpus(const std::vector<NvmlGpu>& gpus) {
  std::map<std::string, std::map<std::string, std::size_t>> times;
  for (const NvmlGpu& gpu : gpus)
    for (const auto& [name, value] : gpu.facts) ++times[name][value];
  Facts facts;
  for (const auto& [name, values] : times) {
    const auto& [value, number] = *values.begin();
    facts["gpu " + name] = number == gpus.size() ? value : counts_text(values);
  }
  return facts;
}

Counters counters_of_gpus(const std::vector<NvmlGpu>& gpus) {
  Counters counters;
  for (std::size_t g = 0; g < gpus.size(); ++g)
    for (const auto& [name, value] : gpus[g].counters)
      counters[fmt::format("{} gpu {}", name, g)] = value;
  return counters;
}

double slowest_nvlink(const std::vector<NvmlGpu>& gpus) {
  const auto slowest = std::ranges::min_element(gpus, {}, &NvmlGpu::nvlink_bytes_per_s);
  return slowest == gpus.end() ? 0 : slowest->nvlink_bytes_per_s;
}

Facts host_facts(const std::string& root) {
  const fs::path at = root + "/";
  Facts facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts[name] = std::move(value);
  };
  add("kernel", line_in(at / "proc/sys/kernel/osrelease"));
  add("os", value_in(at / "etc/os-release", "PRETTY_NAME"));
  add("cpu", value_in(at / "proc/cpuinfo", "model name"));
  std::ifstream cpuinfo(at / "proc/cpuinfo");
  int cpus = 0;
  for (std::string line; std::getline(cpuinfo, line);)
    cpus += line.starts_with("processor") ? 1 : 0;
  if (cpus > 0) facts["cpus"] = std::to_string(cpus);
  constexpr double gib_in_kib = 1 << 20;
  const double kib = parse_number(value_in(at / "proc/meminfo", "MemTotal"));
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
  HostDescription description{host_facts(), throttled_wires(), wire_rate(interface),
                              slowest_nvlink(gpus)};
  description.facts.merge(facts_of_gpus(gpus));
  return description;
}

Counters RealHost::counters() const {
  Counters counters = host_counters();
  counters.merge(counters_of_gpus(nvml_gpus()));
  return counters;
}

}  // namespace ccl_tests::acceptance
