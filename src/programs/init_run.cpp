#include "src/programs/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/serialize.hpp"
#include "src/core/version.hpp"
#include "src/job/job.hpp"
#include "src/options/options.hpp"

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
  StartTimes all;
  for (const std::string& bytes :
       channel.all_gather(span_to_bytes<StartTimes>({&mine, 1}), limit_s)) {
    const StartTimes rank = span_from_bytes<StartTimes>(bytes).at(0);
    for (const auto time :
         {&StartTimes::bootstrap, &StartTimes::connect, &StartTimes::first, &StartTimes::second})
      all.*time = std::max(all.*time, rank.*time);
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
  const double start = communicator.clock().now();
  communicator.all_reduce(call);
  communicator.wait();
  const double seconds = communicator.clock().now() - start;
  const double expected = self.ranks * (self.ranks + 1.0) / 2;
  if (recv != expected)
    throw Error(fmt::format("all_reduce of 8 B: found {}, expected {}", recv, expected),
                Exit::wrong_data);
  return seconds;
}

// Connects the library, runs an all_reduce twice and checks it, closes all. Collective.
StartTimes start_once(Rank& rank) {
  const Expected expected(rank.activity(), rank.limit_s() + 5);
  StartTimes times;
  rank.activity().phase("connecting the library under test");
  rank.meet();  // all begin together
  const double start = monotonic_seconds();
  Communicator& communicator = rank.connect(rank.world());
  times.connect = monotonic_seconds() - start;
  const GroupRank self{rank.rank(), rank.ranks()};
  rank.activity().phase("first operation");
  times.first = sum_ranks(communicator, self);
  rank.activity().phase("second operation");
  times.second = sum_ranks(communicator, self);
  rank.meet();  // nobody leaves while others still need it
  rank.close(communicator);
  return times;
}

class Output {
 public:
  explicit Output(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (piping_advice(path).empty() && !path.ends_with(".jsonl"))
        throw UsageError("-J: " + quote(path) + ": init_perf writes .jsonl files only");
      files_.push_back(OutputFile::create(path, ".jsonl"));
    }
  }
  void header(const Process& process, int ranks) {
    fmt::print("# ccl-tests version {} backend={} library=\"{}\" launcher: {} processes: {}\n",
               version(), process.backend.name(), process.backend.info().version,
               process.launch.launcher, process.launch.processes);
    fmt::print(
        "# milliseconds of the slowest rank. bootstrap: from the program's start until all "
        "ranks have met (MPI_Init included)\n");
    fmt::print("#    ranks      cycle   channel     connect    first op   second op\n");
    std::fflush(stdout);
    write({{"type", "init_header"},
           {"version", version()},
           {"backend", process.backend.name()},
           {"library_version", process.backend.info().version},
           {"launcher", process.launch.launcher},
           {"processes", process.launch.processes},
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
  void close() {
    for (OutputFile& file : files_) file.close();
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
    .about = "how a job starts: launch, library, first operations",
    .domain = {.sweeps = false},
    .layout = [](const Shape& /*s*/) { return Layout{}; },
    .expected = [](const Shape& /*s*/) { return std::vector<ExpectedBlock>{}; },
    .bus_factor = [](const Shape& /*s*/) { return 0.0; },
    .needs = {.host_memory = true, .operations = {OperationId::all_reduce}},
};

int run_init(const Options& o, const JobSetup& job) {
  std::optional<Output> output;
  JobHooks hooks;
  hooks.open = [&](const Process& process) {
    output.emplace(process.launch.process == 0 ? o.output.files : std::vector<std::string>());
  };
  const int cycles = o.sweep.cycles;
  // Rank 0 prints a line for each cycle (-N): the slowest rank's seconds.
  const RankBody body = [&](Rank& rank) {
    const double bootstrap_s = monotonic_seconds() - rank.process().started_s;
    if (rank.is_first()) output->header(rank.process(), rank.ranks());
    for (int cycle = 0; cycles == 0 || cycle < cycles; ++cycle) {
      StartTimes mine = start_once(rank);
      mine.bootstrap = bootstrap_s;
      const StartTimes all = slowest(rank.world(), mine, rank.limit_s());
      if (rank.is_first()) output->row(rank.ranks(), cycle, all);
    }
    if (rank.is_first()) output->close();
    return exit_code(Exit::passed);
  };
  return run_job(job, body, hooks);
}

}  // namespace ccl_tests
