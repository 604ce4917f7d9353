// device_check: does the verifier find on a GPU what it finds on the host, and how fast.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "src/backends/registry.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/output_file.hpp"
#include "src/core/write_all.hpp"
#include "src/job/startup.hpp"
#include "src/options/program_texts.hpp"
#include "tools/check_arguments.hpp"
#include "tools/verifier_check.hpp"

namespace ccl_tests::tools {
namespace {

using Json = nlohmann::ordered_json;

// JSON lines, if they are asked for.
struct Lines {
  std::optional<OutputFile> file;

  void add(const Json& json) {
    if (file) file->append(json.dump() + "\n");
  }
};

std::unique_ptr<Device> open(const Devices& devices, int index) {
  const int count = devices.count();
  if (index >= count)
    throw Error(
        fmt::format("--device: {}, but this process sees {} (0 to {})", index, count, count - 1));
  return devices.open(index);
}

int list(const Devices& devices) {
  const int count = devices.count();
  for (int index = 0; index < count; ++index) {
    const DeviceInfo info = devices.open(index)->info();
    fmt::print("{} {} {}\n", index, info.bus_id, info.name);
  }
  return exit_code(Exit::passed);
}

void head(const Device& device, Lines& lines, const char* what) {
  const DeviceInfo info = device.info();
  fmt::print("# device_check: {} memory of {}{}{} on {}\n", name(device.memory()), info.name,
             info.bus_id.empty() ? "" : " ", info.bus_id, this_host());
  if (!info.description.empty()) fmt::print("# {}\n", info.description);
  lines.add({{"type", "header"},
             {"program", "device_check"},
             {"what", what},
             {"memory", name(device.memory())},
             {"device_name", info.name},
             {"bus_id", info.bus_id},
             {"host", this_host()},
             {"description", info.description}});
}

int check(const CheckArguments& a, Device& device, verify::Loops& loops, Lines& lines) {
  head(device, lines, "check");
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
    lines.add({{"type", "check"},
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
  lines.add({{"type", "footer"}, {"complete", true}, {"passed", passed}});
  return exit_code(passed ? Exit::passed : Exit::wrong_data);
}

int speed(const CheckArguments& a, Device& device, verify::Loops& loops, Lines& lines) {
  head(device, lines, "speed");
  SpeedCheck check(device, loops, a.measure);
  const std::size_t bytes = check.bytes();
  fmt::print(
      "# {} B in each of two buffers{}, medians of {} repetitions in which the five took "
      "turns\n",
      bytes, bytes < a.measure.bytes ? fmt::format(" (of {}: the memory)", a.measure.bytes) : "",
      a.measure.repetitions);
  fmt::print(
      "# GB/s: copy reads and writes, compare reads, the others write; set: {}, constant: a loop of "
      "stores\n",
      device.memory() == Memory::cuda ? "cudaMemset" : "memset");
  fmt::print("# x copy, x set, x const: of copy's, set's and constant's\n");
  fmt::print("# {:>8} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>7} {:>9} {:>6}\n", "type", "op",
             "copy", "set", "constant", "fill", "x copy", "x set", "x const", "compare", "x copy");
  for (const DataType type : a.types) {
    for (const std::optional<ReduceOp> op : {std::optional<ReduceOp>(), {ReduceOp::avg}}) {
      const Speed s = check.measure(type, op);
      const double copy = 2 * s.rate(s.copy_s), set = s.rate(s.set_s);
      const double constant = s.rate(s.constant_s), fill = s.rate(s.fill_s);
      const double compare = s.rate(s.compare_s);
      const std::string_view op_name = op ? name(*op) : "none";
      fmt::print(
          "  {:>8} {:>5} {:9.2f} {:9.2f} {:9.2f} {:9.2f} {:6.3f} {:6.3f} {:7.3f} {:9.2f} {:6.3f}\n",
          name(type), op_name, copy / 1e9, set / 1e9, constant / 1e9, fill / 1e9, fill / copy,
          fill / set, fill / constant, compare / 1e9, compare / copy);
      std::fflush(stdout);
      lines.add({{"type", "speed"},
                 {"datatype", name(type)},
                 {"op", op_name},
                 {"bytes", s.bytes},
                 {"copy_bytes_per_s", copy},
                 {"set_bytes_per_s", set},
                 {"constant_bytes_per_s", constant},
                 {"fill_bytes_per_s", fill},
                 {"compare_bytes_per_s", compare},
                 {"fill_to_copy", fill / copy},
                 {"fill_to_set", fill / set},
                 {"fill_to_constant", fill / constant},
                 {"compare_to_copy", compare / copy},
                 {"copy_s", s.copy_s},
                 {"set_s", s.set_s},
                 {"constant_s", s.constant_s},
                 {"fill_s", s.fill_s},
                 {"compare_s", s.compare_s}});
    }
  }
  lines.add({{"type", "footer"}, {"complete", true}});
  return exit_code(Exit::passed);
}

int run(const CheckArguments& a) {
  if (a.help) {
    fmt::print("{}", help_of(check_texts(), declare_flags));
    return exit_code(Exit::passed);
  }
  const Devices& devices = a.memory == Memory::host ? host_devices() : open_gpus();
  if (a.list) return list(devices);
  const auto device = open(devices, a.device);
  const auto loops = devices.loops(*device);
  Lines lines;
  if (!a.output_file.empty()) lines.file.emplace(OutputFile::create(a.output_file, ".jsonl"));
  const int code = a.speed ? speed(a, *device, *loops, lines) : check(a, *device, *loops, lines);
  if (lines.file) lines.file->close();
  return code;
}

}  // namespace
}  // namespace ccl_tests::tools

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ccl_tests::reserve_standard_files();
  try {
    using namespace ccl_tests::tools;
    return run(parse_check_arguments({argv + std::min(argc, 1), argv + argc}));
  } catch (const ccl_tests::Error& e) {
    ccl_tests::print_error(fmt::format("device_check: {}\n", e.what()));
    return ccl_tests::exit_code(e.code());
  } catch (const std::exception& e) {
    ccl_tests::print_error(fmt::format("device_check: {}\n", e.what()));
    return ccl_tests::exit_code(ccl_tests::Exit::failed);
  }
}
