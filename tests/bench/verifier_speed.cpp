// How fast the verifier fills and compares a device's memory, beside a copy within the same memory, cudaMemset
// (on the host memset) and a loop of stores. Two buffers, for all types in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/job/job.hpp"
#include "src/measure/statistics.hpp"
#include "src/options/command_line.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/values.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {
namespace {

struct Arguments {
  Memory memory = Memory::cuda;
  int device = 0, repetitions = 9;
  std::vector<DataType> types = {all_types().begin(), all_types().end()};
  std::size_t bytes = std::size_t{4} << 30;
  std::string file;
  bool help = false;
};

void declare_flags(FlagSet& set, Arguments& a) {
  set.add(a.memory, "--memory", "NAME", "memory to measure: cuda, or host",
          name_of<Memory>({Memory::cuda, Memory::host}));
  set.add(a.device, "--device", "N", "device, of those that are visible", in_range(0, 1024));
  set.add(a.types, "-d", "LIST", "types, a comma list, or all", parse_types, {.by_default = "all"});
  set.add(a.bytes, "-b", "SIZE", "each buffer's, reduced to the free memory", parse_size);
  set.add(a.repetitions, "-n", "N", "repetitions, of which the median counts",
          in_range(1, 1 << 20));
  set.add(a.file, "-J", "FILE", "JSON lines, into this file", parse_file);
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {{"0", "measured"},
                                       {"2", "usage"},
                                       {"3", "unsupported here"},
                                       {"4", "a library failed"},
                                       {"7", "right data were called wrong"}};
  ProgramTexts texts;
  texts.name = "verifier_speed";
  texts.about = "how fast are the verifier's fill and compare?";
  texts.exits = exits;
  return texts;
}

// `wanted`, or fewer where two buffers would not fit into the free memory; a multiple of 256.
std::size_t affordable(std::size_t wanted, const Device& device) {
  const std::size_t each = device.available() / 100 * 45;
  return std::max<std::size_t>(std::min(wanted, each) / 256 * 256, 256);
}

// Seconds of each repetition, in which all five took turns.
struct Times {
  std::vector<double> copy, set, constant, fill, compare;
};

class Contest {
 public:
  Contest(Device& device, verify::Loops& loops, const Arguments& a)
      : device_(device),
        loops_(loops),
        repetitions_(a.repetitions),
        bytes_(affordable(a.bytes, device)),
        data_(device.allocate(bytes_)),
        other_(device.allocate(bytes_)) {}
  std::size_t bytes() const { return bytes_; }

  Times measure(DataType type, std::optional<ReduceOp> op) {
    constexpr int ranks = 1;  // the reduction over one rank is its input
    constexpr int seed = 1;
    const auto pattern = std::make_shared<const verify::Pattern>(type, op, ranks, seed);
    const verify::Verifier verifier(pattern, 0, loops_);
    const std::size_t count = bytes_ / size_of(type);
    const ExpectedBlock segment = {.count = count,
                                   .source_rank = op ? ExpectedBlock::all_ranks : 0};
    std::byte* const data = data_.data();
    Times times;
    verify::Mismatch found;
    for (int repetition = -1; repetition < repetitions_; ++repetition) {
      const auto time = [&](std::vector<double>& seconds, auto&& what) {
        const double start = monotonic_seconds();
        what();
        // The first calls load kernels and touch memory.
        if (repetition >= 0) seconds.push_back(monotonic_seconds() - start);
      };
      time(times.copy, [&] { device_.copy(other_.data(), data, bytes_); });
      time(times.set, [&] { loops_.set(data, std::byte{0}, bytes_); });
      time(times.constant, [&] { loops_.fill_constant(data, std::byte{0}, bytes_); });
      time(times.fill, [&] { verifier.fill_input(data, count, 0); });
      time(times.compare, [&] { found = verifier.compare(data, {&segment, 1}, 0); });
      if (found.wrong != 0)
        throw Error(fmt::format("{} {}: what was filled is found wrong: {} elements, {} to {}, {}",
                                name(type), op ? name(*op) : "none", found.wrong, found.first,
                                found.last, found.explanation),
                    Exit::wrong_data);
    }
    return times;
  }

 private:
  Device& device_;
  verify::Loops& loops_;
  int repetitions_;
  std::size_t bytes_;
  Buffer data_, other_;
};

int run(const Arguments& a) {
  if (a.help) {
    fmt::print("{}", help_of(texts(), declare_flags));
    return exit_code(Exit::passed);
  }
  const Devices& devices = a.memory == Memory::host ? host_devices() : open_gpus();
  if (const int count = devices.count(); a.device >= count)
    throw Error(fmt::format("--device: {}, but this process sees {}", a.device, count));
  const auto device = devices.open(a.device);
  const auto loops = devices.loops(*device);
  std::optional<OutputFile> file;
  if (!a.file.empty()) file.emplace(OutputFile::create(a.file, ""));
  const auto line = [&](const nlohmann::ordered_json& json) {
    if (file) file->append(json.dump() + "\n");
  };
  Contest contest(*device, *loops, a);
  const std::size_t bytes = contest.bytes();
  const DeviceInfo info = device->info();
  fmt::print("# verifier_speed: {} memory of {} {}\n", name(device->memory()), info.name,
             info.bus_id);
  line({{"type", "header"},
        {"program", "verifier_speed"},
        {"memory", name(device->memory())},
        {"device_name", info.name},
        {"bus_id", info.bus_id},
        {"description", info.description}});
  fmt::print(
      "# {} B in each of two buffers{}, medians of {} repetitions in which the five took turns\n",
      bytes, bytes < a.bytes ? fmt::format(" (of {}: the memory)", a.bytes) : "", a.repetitions);
  fmt::print(
      "# GB/s: copy reads and writes, compare reads, the others write; set: {}, constant: a loop of "
      "stores\n",
      device->memory() == Memory::cuda ? "cudaMemset" : "memset");
  fmt::print("# x copy, x set, x const: of copy's, set's and constant's\n");
  fmt::print("# {:>8} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>7} {:>9} {:>6}\n", "type", "op",
             "copy", "set", "constant", "fill", "x copy", "x set", "x const", "compare", "x copy");
  for (const DataType type : a.types) {
    for (const std::optional<ReduceOp> op : {std::optional<ReduceOp>(), {ReduceOp::avg}}) {
      const Times t = contest.measure(type, op);
      const auto rate = [&](const std::vector<double>& seconds) {
        return static_cast<double>(bytes) / median(seconds);
      };
      const double copy = 2 * rate(t.copy), set = rate(t.set), constant = rate(t.constant);
      const double fill = rate(t.fill), compare = rate(t.compare);
      const std::string_view op_name = op ? name(*op) : "none";
      fmt::print(
          "  {:>8} {:>5} {:9.2f} {:9.2f} {:9.2f} {:9.2f} {:6.3f} {:6.3f} {:7.3f} {:9.2f} {:6.3f}\n",
          name(type), op_name, copy / 1e9, set / 1e9, constant / 1e9, fill / 1e9, fill / copy,
          fill / set, fill / constant, compare / 1e9, compare / copy);
      std::fflush(stdout);
      line({{"type", "speed"},
            {"datatype", name(type)},
            {"op", op_name},
            {"bytes", bytes},
            {"copy_bytes_per_s", copy},
            {"set_bytes_per_s", set},
            {"constant_bytes_per_s", constant},
            {"fill_bytes_per_s", fill},
            {"compare_bytes_per_s", compare},
            {"fill_to_copy", fill / copy},
            {"fill_to_set", fill / set},
            {"fill_to_constant", fill / constant},
            {"compare_to_copy", compare / copy},
            {"copy_s", t.copy},
            {"set_s", t.set},
            {"constant_s", t.constant},
            {"fill_s", t.fill},
            {"compare_s", t.compare}});
    }
  }
  line({{"type", "footer"}, {"complete", true}});
  if (file) file->close();
  return exit_code(Exit::passed);
}

}  // namespace
}  // namespace ccl_tests

int main(int argc, char** argv) {
  using namespace ccl_tests;
  // No rank of a job, whatever the environment says.
  return run_main("verifier_speed", {"--launcher=local"}, [&] {
    Arguments a;
    FlagSet set;
    declare_flags(set, a);
    a.help = !read_flags(set, read_command_line(set, {argv + std::min(argc, 1), argv + argc}),
                         "verifier_speed");
    return run(a);
  });
}
