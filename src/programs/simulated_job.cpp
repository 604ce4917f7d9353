#include "src/programs/simulated_job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "src/backends/mpi/simulated.hpp"
#include "src/core/error.hpp"
#include "src/core/write_all.hpp"
#include "src/job/startup.hpp"

namespace ccl_tests {

int run_simulated_job(const JobSetup& asked, const RankBody& body, const JobHooks& hooks) {
  const auto channel = mpi_module::simulated_channel();
  JobSetup job = asked;
  job.simulated_host = mpi_module::simulated_host();
  const Backend& backend = mpi_module::simulated_backend();
  check_options(backend, job.told());
  Launch launch;
  launch.launcher = "simulated (SimGrid SMPI)";
  launch.process = channel->rank();
  launch.processes = channel->ranks();
  const Staging staging;
  const Process process{job, launch, backend, staging, [&](const std::string& line) {
                          print_error(fmt::format("{}: {}\n", job.program, line));
                        }};
  if (hooks.check) hooks.check(process, channel->ranks());
  if (hooks.open) hooks.open(process);
  Activity activity;
  OpenCommunicators open;
  Rank rank(process, *channel, activity, open);
  rank.start();
  RanksEnd end;
  end.exit_code = body(rank);
  return hooks.write_end ? hooks.write_end(end) : end.exit_code;
}

int run_simulated_main(const std::string& program, const std::function<int()>& main) {
  int code = exit_code(Exit::failed);
  reserve_standard_files();
  try {
    code = main();
    mpi_module::simulated_backend().finish();
    return code;
  } catch (const Error& e) {
    print_error(fmt::format("{}: {}\n", program, e.what()));
    code = exit_code(e.code());
  } catch (const std::exception& e) {
    print_error(fmt::format("{}: {}\n", program, e.what()));
  }
  std::fflush(nullptr);
  std::_Exit(code);  // all ranks are this process
}

verify::PatternCache& simulated_patterns() {
  static verify::PatternCache patterns;
  return patterns;
}

bool is_first_simulated_rank() { return mpi_module::simulated_channel()->rank() == 0; }

}  // namespace ccl_tests
