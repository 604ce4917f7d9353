#include "src/programs/simulated_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "src/core/collective.hpp"
#include "src/core/error.hpp"
#include "src/options/settings.hpp"
#include "src/programs/simulated_job.hpp"
#include "src/report/explanations.hpp"
#include "src/report/open_files.hpp"
#include "src/run/sweep.hpp"

namespace ccl_tests {
namespace {

void refuse(const Options& options) {
  if (options.job.local_processes > 0 || options.job.ranks_per_process() > 1)
    throw UsageError("--np, -t and -g: the simulator sets the number of ranks");
  if (options.measure.samples)
    throw Unsupported("--samples: simulated times do not vary; accepted: -n");
  if (options.measure.cache)
    throw UsageError("--cache: simulated time knows no caches; accepted: without it");
  if (options.job.bind != "none")
    throw UsageError("--bind: simulated ranks have no CPUs of their own; accepted: none");
  if (!options.output.heartbeat_file.empty())
    throw UsageError("--heartbeat: simulated ranks tell no progress; accepted: without it");
  const std::vector<std::string> gpu = gpu_flags(options);
  if (!gpu.empty() || options.gpu.memory == Memory::cuda)
    throw Unsupported("simulated ranks have no GPU: " + (gpu.empty() ? "--memory" : gpu.front()));
}

int run_sweep(const Collective& collective, const Options& options, const JobSetup& job) {
  MultiReporter results(options);
  JobHooks hooks;
  hooks.check = [&](const Process&, int ranks) {
    check_groups(collective, options, unplaced_groups(options, ranks));
  };
  hooks.open = [&](const Process& process) {
    if (process.launch.process != 0) return;
    open_files(results, options, process.log);
    read_earlier_runs(results, options);
  };
  hooks.write_end = [&](const RanksEnd& end) {
    return most_severe(end.exit_code, results.finish(0, {}));
  };
  const RankBody body = [&](Rank& rank) {
    return sweep(rank, collective, options, simulated_patterns(), results);
  };
  return run_simulated_job(job, body, hooks);
}

int run(const Collective& program, const std::vector<std::string>& arguments) {
  const Parsed parsed = parse_options(program, arguments, process_environment());
  if (parsed.print || parsed.options.output.explain) {
    if (is_first_simulated_rank())
      fmt::print("{}", parsed.print ? *parsed.print : explain(program));
    return exit_code(Exit::passed);
  }
  refuse(parsed.options);
  const Collective& collective = in_mode(program, parsed.options.sweep.mode);
  return run_sweep(collective, parsed.options, job_setup(collective, parsed.options, arguments));
}

}  // namespace

int run_simulated_program(const Collective& collective, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return run_simulated_main(fmt::format("{}_perf", collective.name),
                            [&] { return run(collective, arguments); });
}

}  // namespace ccl_tests
