// device_check: does the verifier find on a GPU what it finds on the host.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/backends/registry.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/output_file.hpp"
#include "src/job/job.hpp"
#include "tools/check_arguments.hpp"

namespace ccl_tests::tools {
namespace {

int list(const Devices& devices) {
  const int count = devices.count();
  for (int index = 0; index < count; ++index) {
    const DeviceInfo info = devices.open(index)->info();
    fmt::print("{} {} {}\n", index, info.bus_id, info.name);
  }
  return exit_code(Exit::passed);
}

int check(const CheckArguments& a, Device& device, verify::Loops& loops) {
  std::optional<OutputFile> file;
  if (!a.output_file.empty()) file.emplace(OutputFile::create(a.output_file, ".jsonl"));
  const auto record = [&](const nlohmann::ordered_json& json) {
    if (file) file->append(json.dump() + "\n");
  };
  const DeviceInfo info = device.info();
  fmt::print("# device_check: {} memory of {}{}{} on {}\n", name(device.memory()), info.name,
             info.bus_id.empty() ? "" : " ", info.bus_id, this_host());
  if (!info.description.empty()) fmt::print("# {}\n", info.description);
  record({{"type", "header"},
          {"program", "device_check"},
          {"what", "check"},
          {"memory", name(device.memory())},
          {"device_name", info.name},
          {"bus_id", info.bus_id},
          {"host", this_host()},
          {"description", info.description}});
  fmt::print("# {:>8} {:>9} {:>8} {:>6} {:>8} {:>7} {:>8} {:>7} {:>8}\n", "type", "patterns",
             "fills", "other", "right", "alarms", "faults", "missed", "seconds");
  CheckReport all;
  for (const DataType type : a.types) {
    const double start = monotonic_seconds();
    const CheckReport r = check_type(type, device, loops, a.check);
    const double seconds = monotonic_seconds() - start;
    fmt::print("  {:>8} {:9} {:8} {:6} {:8} {:7} {:8} {:7} {:8.2f}\n", name(type), r.patterns,
               r.fills, r.other_fills, r.right, r.false_alarms, r.faults, r.missed, seconds);
    for (const std::string& line : r.details) fmt::print("# {}\n", line);
    std::fflush(stdout);
    record({{"type", "check"},
            {"datatype", name(type)},
            {"patterns", r.patterns},
            {"fills", r.fills},
            {"other_fills", r.other_fills},
            {"right", r.right},
            {"false_alarms", r.false_alarms},
            {"faults", r.faults},
            {"missed", r.missed},
            {"details", r.details},
            {"seconds", seconds}});
    all.fills += r.fills;
    all.other_fills += r.other_fills;
    all.right += r.right;
    all.false_alarms += r.false_alarms;
    all.faults += r.faults;
    all.missed += r.missed;
  }
  const bool passed = all.passed();
  fmt::print(
      "# {}: {} of {} faults missed or told otherwise than by the host, {} of {} right data called "
      "wrong, {} of {} fills other than the host's\n",
      passed ? "OK" : "FAILED", all.missed, all.faults, all.false_alarms, all.right,
      all.other_fills, all.fills);
  record({{"type", "footer"}, {"complete", true}, {"passed", passed}});
  if (file) file->close();
  return exit_code(passed ? Exit::passed : Exit::wrong_data);
}

int run(const CheckArguments& a) {
  if (a.help) {
    fmt::print("{}", help_of(check_texts(), declare_flags));
    return exit_code(Exit::passed);
  }
  const Devices& devices = a.memory == Memory::host ? host_devices() : open_gpus();
  if (a.list) return list(devices);
  if (const int count = devices.count(); a.device >= count)
    throw Error(fmt::format("--device: {}, but this process sees {} (0 to {})", a.device, count,
                            count - 1));
  const auto device = devices.open(a.device);
  const auto loops = devices.loops(*device);
  return check(a, *device, *loops);
}

}  // namespace
}  // namespace ccl_tests::tools

int main(int argc, char** argv) {
  using namespace ccl_tests;
  // No rank of a job, whatever the environment says.
  return run_main("device_check", {"--launcher=local"}, [&] {
    return tools::run(tools::parse_check_arguments({argv + std::min(argc, 1), argv + argc}));
  });
}
