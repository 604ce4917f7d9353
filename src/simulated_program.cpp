#include "src/simulated_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "src/backends/mpi/simulated.hpp"
#include "src/core/collective.hpp"
#include "src/core/error.hpp"
#include "src/job/rank.hpp"
#include "src/job/standard_files.hpp"
#include "src/options/job_setup_of.hpp"
#include "src/report/explanations.hpp"
#include "src/run/sweep.hpp"

namespace ccl_tests {
namespace {

// Simulated ranks are copies of the executable, not of this library: they share these tables, which
// would otherwise be computed once per rank.
verify::PatternCache& shared_patterns() {
  static verify::PatternCache patterns;
  return patterns;
}

void refuse(const Options& options) {
  if (options.job.local_processes > 0 || options.job.ranks_per_process() > 1)
    throw UsageError("--np, -t and -g: the simulator sets the number of ranks");
  if (options.measure.samples)
    throw Unsupported("--samples: simulated times do not vary; accepted: -n");
  if (options.measure.cache)
    throw UsageError("--cache: simulated time knows no caches; accepted: without it");
  if (options.job.bind != "none")
    throw UsageError("--bind: simulated ranks have no CPUs of their own; accepted: none");
  const std::vector<std::string> gpu = gpu_flags(options);
  if (!gpu.empty() || options.gpu.memory == Memory::cuda)
    throw Unsupported("simulated ranks have no GPU: " + (gpu.empty() ? "--memory" : gpu.front()));
}

int run(const Collective& program, const std::string& name,
        const std::vector<std::string>& arguments) {
  const auto channel = mpi_module::simulated_channel();
  const bool first = channel->rank() == 0;
  const Parsed parsed = parse_options(program, arguments, process_environment());
  if (parsed.print) {
    if (first) fmt::print("{}", *parsed.print);
    return exit_code(Exit::passed);
  }
  const Options& options = parsed.options;
  if (options.output.explain) {
    if (first) fmt::print("{}", explain(program));
    return exit_code(Exit::passed);
  }
  const Collective& collective = in_mode(program, options.sweep.mode);
  refuse(options);
  check_options(mpi_module::simulated_backend(), options.backend);
  check_groups(collective, options, unplaced_groups(options, channel->ranks()));

  Launch launch;
  launch.launcher = "simulated (SimGrid SMPI)";
  launch.process = channel->rank();
  launch.processes = channel->ranks();
  JobSetup job = job_setup(collective, options, arguments);
  job.simulated = true;
  const Staging staging;
  const Process process{
      job, launch, mpi_module::simulated_backend(), staging,
      [&](const std::string& line) { fmt::print(stderr, "{}: {}\n", name, line); }};
  MultiReporter results(options);
  for (const std::string& file : options.output.files)
    if (first) results.add(file_reporter(file, nullptr));
  if (first) results.add(table_reporter(stdout));
  if (first && !options.check.digests.empty()) results.keep_digests(options.check.digests);
  Activity activity;
  OpenCommunicators open;
  Rank rank(process, *channel, activity, open);
  rank.start();
  const int verdict = sweep(rank, collective, options, shared_patterns(), results);
  return most_severe(verdict, results.finish(0, {}));
}

}  // namespace

int run_simulated_program(const Collective& collective, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string name = fmt::format("{}_perf", collective.name);
  int code = exit_code(Exit::failed);
  reserve_standard_files();
  try {
    code = run(collective, name, arguments);
    mpi_module::simulated_backend().finish();
    return code;
  } catch (const Error& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    code = exit_code(e.code());
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
  }
  std::fflush(nullptr);
  std::_Exit(code);  // all ranks are this process
}

}  // namespace ccl_tests
