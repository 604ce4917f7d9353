#include "src/init_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "src/core/quote.hpp"
#include "src/measure/batch.hpp"
#include "src/report/output_file.hpp"

namespace ccl_tests {
namespace {

// Seconds of one rank, or the slowest of all ranks.
struct StartTimes {
  double bootstrap = 0;  // from the program's first line until all ranks have met
  double connect = 0;    // the library's communicator
  double first = 0;      // an operation that may still connect, allocate, choose an algorithm
  double second = 0;     // the same operation again
};

StartTimes slowest(ControlChannel& channel, const StartTimes& mine, double limit_s) {
  const auto text = nlohmann::json{mine.bootstrap, mine.connect, mine.first, mine.second}.dump();
  StartTimes all;
  for (const std::string& rank : channel.all_gather(text, limit_s)) {
    const auto json = nlohmann::json::parse(rank);
    all.bootstrap = std::max(all.bootstrap, json.at(0).get<double>());
    all.connect = std::max(all.connect, json.at(1).get<double>());
    all.first = std::max(all.first, json.at(2).get<double>());
    all.second = std::max(all.second, json.at(3).get<double>());
  }
  return all;
}

// Sums the rank numbers. Returns seconds; throws Error with Exit::wrong_data.
double sum_ranks(Communicator& communicator, const GroupRank& self) {
  const double send = self.rank + 1;
  double recv = -1;
  Call call;
  call.send = &send;
  call.recv = &recv;
  call.count = 1;
  call.type = DataType::float64;
  call.self = self;
  const double start = communicator.now();
  communicator.all_reduce(call);
  communicator.wait();
  const double seconds = communicator.now() - start;
  const double expected = self.ranks * (self.ranks + 1.0) / 2;
  if (recv != expected)
    throw Error(fmt::format("all_reduce of 8 B: found {}, expected {}", recv, expected),
                Exit::wrong_data);
  return seconds;
}

StartTimes start_once(RankJob& job, ControlChannel& channel, Device* gpu, Progress& progress,
                      Pulse& pulse) {
  const Options& o = job.options;
  const Watched watched(pulse, o.backend.init_timeout_s + 5);
  StartTimes times;
  progress.phase("connecting the library under test");
  channel.all_gather("", o.backend.init_timeout_s);  // all begin together
  const double start = monotonic_seconds();
  Communicator& communicator = connect(job, channel, gpu, pulse);
  times.connect = monotonic_seconds() - start;
  const GroupRank self{channel.rank(), channel.ranks()};
  progress.phase("first operation");
  times.first = sum_ranks(communicator, self);
  progress.phase("second operation");
  times.second = sum_ranks(communicator, self);
  channel.all_gather("", o.backend.init_timeout_s);  // nobody leaves while others still need it
  job.open.close(communicator);
  return times;
}

class Output {
 public:
  explicit Output(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (!path.ends_with(".jsonl"))
        throw UsageError("-J: " + quote(path) + ": init_perf writes .jsonl files only");
      files_.push_back(OutputFile::create(path, ".jsonl"));
    }
  }
  void header(const RankJob& job, int ranks) {
    fmt::print("# ccl-tests version {} backend={} library=\"{}\" launcher: {} processes: {}\n",
               CCL_VERSION, job.backend.name(), job.backend.version(), job.launch.launcher,
               job.launch.processes);
    fmt::print(
        "# milliseconds of the slowest rank. bootstrap: from the program's start until all "
        "ranks have met (MPI_Init included)\n");
    fmt::print("#    ranks      cycle   channel     connect    first op   second op\n");
    std::fflush(stdout);
    write({{"type", "init_header"},
           {"version", CCL_VERSION},
           {"backend", job.backend.name()},
           {"library_version", job.backend.version()},
           {"launcher", job.launch.launcher},
           {"processes", job.launch.processes},
           {"ranks", ranks}});
  }
  void row(int ranks, int cycle, const StartTimes& t) {
    fmt::print("{:10} {:10} {:11.3f} {:11.3f} {:11.3f} {:11.3f}\n", ranks, cycle, t.bootstrap * 1e3,
               t.connect * 1e3, t.first * 1e3, t.second * 1e3);
    std::fflush(stdout);
    write({{"type", "init_row"},
           {"ranks", ranks},
           {"cycle", cycle},
           {"bootstrap_seconds", t.bootstrap},
           {"connect_seconds", t.connect},
           {"first_operation_seconds", t.first},
           {"second_operation_seconds", t.second}});
  }

 private:
  void write(const nlohmann::ordered_json& object) {
    for (OutputFile& file : files_) file.append(object.dump() + '\n');
  }
  std::vector<OutputFile> files_;
};

}  // namespace

const Collective init_spec = {
    .name = "init",
    .sweeps = false,
    .layout = [](const Shape& /*s*/) { return Layout{}; },
    .expected = [](const Shape& /*s*/) { return std::vector<ExpectedBlock>{}; },
    .bus_factor = [](const Shape& /*s*/) { return 0.0; },
    .run = [](Communicator& c, const Call& call) { c.all_reduce(call); },
    .host_memory = true,
};

void run_init(RankJob& job, ControlChannel& channel, Progress& progress, Pulse& pulse,
              bool first_of_process) {
  const Options& o = job.options;
  const bool reports = first_of_process && channel.rank() == 0;
  std::optional<Output> output;
  if (reports) output.emplace(o.output.files);
  require_same_settings(job, channel);
  const double bootstrap_s = monotonic_seconds() - job.started_s;
  if (reports) output->header(job, channel.ranks());
  Device* const gpu = open_gpu(job, channel, nullptr);
  for (int cycle = 0; o.sweep.cycles == 0 || cycle < o.sweep.cycles; ++cycle) {
    StartTimes mine = start_once(job, channel, gpu, progress, pulse);
    mine.bootstrap = bootstrap_s;
    const StartTimes all = slowest(channel, mine, o.backend.init_timeout_s);
    if (reports) output->row(channel.ranks(), cycle, all);
  }
}

}  // namespace ccl_tests
