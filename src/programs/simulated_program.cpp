#include "src/programs/simulated_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "src/backends/mpi/simulated.hpp"
#include "src/core/collective.hpp"
#include "src/core/error.hpp"
#include "src/core/write_all.hpp"
#include "src/job/startup.hpp"
#include "src/options/settings.hpp"
#include "src/report/explanations.hpp"
#include "src/report/run_results.hpp"
#include "src/run/sweep.hpp"

namespace ccl_tests {

int run_simulated_job(const JobSetup& asked, const RankBody& body, const JobHooks& hooks) {
  const auto channel = mpi_module::simulated_channel();
  JobSetup job = asked;
  job.simulated_host = mpi_module::simulated_host();
  const Backend& backend = mpi_module::simulated_backend();
  check_options(backend, job.library_options());
  Launch launch;
  launch.launcher = "simulated (SimGrid SMPI)";
  launch.process = channel->rank();
  launch.processes = channel->ranks();
  const Staging staging;
  const Process process{job, launch, backend, staging, [&](const std::string& line) {
                          print_error(fmt::format("{}: {}\n", job.program, line));
                        }};
  if (job.inject) require_rank(*job.inject, channel->ranks());
  if (hooks.check) hooks.check(process, channel->ranks());
  if (hooks.open) hooks.open(process);
  Activity activity;
  OpenCommunicators open;
  Rank rank(process, *channel, activity, open);
  rank.start();
  RanksEnd end;
  end.exit_code = rank.code_with_faults(body(rank));
  return hooks.write_end ? hooks.write_end(end) : end.exit_code;
}

int run_simulated_main(const std::string& program, const std::function<int()>& main) {
  int code = exit_code(Exit::failed);
  reserve_standard_files();
  try {
    code = main();
    mpi_module::simulated_backend().finish();
    return code;
  } catch (const std::exception& e) {
    print_error(fmt::format("{}: {}\n", program, e.what()));
    if (const auto* const error = dynamic_cast<const Error*>(&e)) code = exit_code(error->code());
  }
  std::fflush(nullptr);
  std::_Exit(code);  // all ranks are this process
}

verify::PatternCache& simulated_patterns() {
  static verify::PatternCache patterns;
  return patterns;
}

namespace {

void refuse(const Options& options) {
  if (options.job.local_processes > 0 || options.job.ranks_per_process() > 1)
    throw UsageError("--np, -t and -g: the simulator sets the number of ranks");
  if (options.measure.samples)
    throw Unsupported("--samples: simulated times do not vary; accepted: -n");
  if (options.measure.beside)
    throw Unsupported("--beside: simulated ranks share one thread, beside which nothing runs");
  if (options.measure.cache)
    throw UsageError("--cache: simulated time knows no caches; accepted: without it");
  if (options.job.bind != "none" && options.job.bind != JobOptions{}.bind)
    throw UsageError("--bind: simulated ranks have no CPUs of their own; accepted: none");
  if (!options.job.heartbeat_file.empty())
    throw UsageError("--heartbeat: simulated ranks tell no progress; accepted: without it");
  const std::vector<std::string> gpu = gpu_flags(options);
  if (!gpu.empty() || options.gpu.memory == Memory::cuda)
    throw Unsupported("simulated ranks have no GPU: " + (gpu.empty() ? "--memory" : gpu.front()));
}

}  // namespace

int run_simulated_program(const Collective& program, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return run_simulated_main(fmt::format("{}_perf", program.name), [&] {
    const Parsed parsed = parse_options(program, arguments, process_environment());
    const Options& options = parsed.options;
    if (parsed.print || options.output.explain) {
      if (mpi_module::simulated_channel()->rank() == 0)
        fmt::print("{}", parsed.print ? *parsed.print : explain(program));
      return exit_code(Exit::passed);
    }
    refuse(options);
    const Collective& collective = in_mode(program, options.sweep.mode);
    RunResults results(options);
    JobHooks hooks;
    hooks.check = [&](const Process&, int ranks) {
      check_groups(collective, options, unplaced_groups(options, ranks));
    };
    hooks.open = [&](const Process& process) {
      if (process.launch.process != 0) return;
      open_files(results, options, process.log);
      results.read_earlier_runs();
    };
    hooks.write_end = [&](const RanksEnd& end) {
      return most_severe(end.exit_code, results.finish(0, {}));
    };
    const RankBody body = [&](Rank& rank) {
      return sweep(rank, collective, options, simulated_patterns(), results);
    };
    return run_simulated_job(job_setup(collective, options, arguments), body, hooks);
  });
}

}  // namespace ccl_tests
