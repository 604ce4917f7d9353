#include "src/job/startup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "src/bootstrap/wait_notice.hpp"
#include "src/core/error.hpp"
#include "src/job/activity.hpp"
#include "src/job/rank_cpus.hpp"

namespace ccl_tests {
namespace {

// A GPU that is in evidence makes the reason clearer.
const Devices& usable_gpus() {
  const Devices& gpus = open_gpus();
  try {
    gpus.count();
  } catch (const Error& e) {
    const auto evidence = gpu_evidence();
    throw Error(evidence ? fmt::format("{}, but {}", *evidence, e.what()) : e.what());
  }
  return gpus;
}

Staging stage_buffers(const JobSetup& o, const Backend& backend) {
  if (o.memory == Memory::cuda)
    backend.start(o.library_options());  // MPI knows only then whether it takes it
  const std::vector<Memory> taken = backend.info().memories;
  const bool host_only = !o.host_memory_only.empty();
  if (host_only && o.memory == Memory::cuda)
    throw Unsupported(fmt::format("--memory cuda: {}", o.host_memory_only));
  Staging staging;
  staging.buffers = host_only ? Memory::host : o.memory.value_or(taken.front());
  const auto takes = [&](Memory memory) {
    return std::find(taken.begin(), taken.end(), memory) != taken.end();
  };
  staging.staged = !takes(staging.buffers);
  if (staging.buffers == Memory::cuda || !takes(Memory::host)) {
    staging.gpus = &usable_gpus();
  } else if (const int expected = o.expect_gpus.value_or(0); expected != 0) {
    const int there = usable_gpus().count();
    if (there < expected)
      throw Error(fmt::format("--expect-gpus {}: this host shows {}", expected, there));
  }
  return staging;
}

void choose_default_ranks(JobSetup& o, const Launch& launch, const Backend& backend,
                          const Staging& staging) {
  if (!o.whole_machine || o.local_processes > 0 || backend.info().one_rank_per_process) return;
  if (o.threads || o.ranks_per_thread || launch.processes > 1 || launch.launcher != "none") return;
  if (staging.gpus == nullptr) {
    o.threads = default_threads(own_cpus(), backend);
  } else if (staging.gpus->count() == 1) {
    o.threads = 1;
  } else {
    o.local_processes = staging.gpus->count();
  }
}

void refuse_gpu_flags(const JobSetup& o, const Backend& backend) {
  if (o.gpu_flags.empty() || backend.info().memories.front() == Memory::cuda) return;
  throw Unsupported(fmt::format("{}: needs a library that works on GPUs; {} does not",
                                fmt::join(o.gpu_flags, ", "), backend.name()));
}

// A graph or a registration would be of the library's own buffers.
void refuse_staged_flags(const JobSetup& o, const Staging& staging) {
  if (o.gpu_flags.empty() || !staging.staged) return;
  throw Unsupported(fmt::format("{}: not on buffers in {} memory, which are copied for the library",
                                fmt::join(o.gpu_flags, ", "), name(staging.buffers)));
}

void refuse_more_ranks(const JobSetup& o, const Backend& backend) {
  if (!backend.info().one_rank_per_process) return;
  const char* const flag = o.local_processes > 1       ? "--np"
                           : o.ranks_per_process() > 1 ? "-t and -g"
                                                       : nullptr;
  if (flag == nullptr) return;
  throw Unsupported(fmt::format(
      "{}: with {} a process is one rank, and its launcher starts them: mpirun -n {} ...", flag,
      backend.name(), std::max(o.local_processes, o.ranks_per_process())));
}

}  // namespace

Staging settle(JobSetup& options, const Launch& launch, const Backend& backend) {
  refuse_gpu_flags(options, backend);
  check_options(backend, options.library_options());
  const Staging staging = stage_buffers(options, backend);
  refuse_staged_flags(options, staging);
  choose_default_ranks(options, launch, backend, staging);
  refuse_more_ranks(options, backend);
  return staging;
}

void provide_descriptors(std::size_t needed) {
  constexpr std::size_t own = 64;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = needed + own;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted)
    throw Unsupported(fmt::format(
        "this process needs {} open files, its hard limit is {}; raise it (ulimit -n), or use fewer ranks per process",
        wanted, limit.rlim_max));
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::string> without_np(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--np") {
      ++i;
    } else if (arguments[i].rfind("--np=", 0) != 0) {
      rest.push_back(arguments[i]);
    }
  }
  return rest;
}

void reserve_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) != -1) continue;
    // The lowest number that is free, which is this one.
    static_cast<void>(::open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

BackendPtr open_launcher(const Launch& launch) {
  if (launch.processes == 1 || !launch.master_host.empty()) return nullptr;
  try {
    return open_backend("mpi", launch.mpi_module);
  } catch (const Unsupported& e) {
    throw Unsupported(fmt::format(
        "{} started {} processes, which would meet through MPI; {}; or set RANK, WORLD_SIZE and "
        "MASTER_ADDR",
        launch.launcher, launch.processes, e.what()));
  }
}

void start_libraries(const Backend& backend, const Backend* launcher, const BackendOptions& options,
                     const Launch& launch, const std::function<void(const std::string&)>& log,
                     const std::function<void(const std::string&)>& give_up) {
  const double limit_s = options.init_timeout_s;
  Activity activity;
  const auto watchdog = start_watchdog(activity, [&](double) {
    give_up(fmt::format("{} has not started within {:g} s", backend.name(), limit_s));
    std::_Exit(exit_code(Exit::timed_out));
  });
  const Expected expected(activity, limit_s);
  std::optional<WaitNotice> notice;
  if (const Backend* const mpi = launcher != nullptr ? launcher : &backend;
      launch.process <= 1 && launch.processes > 1 && mpi->info().one_rank_per_process) {
    notice.emplace([&](std::string_view line) { log(std::string(line)); });
    notice->set(fmt::format("{} to start, in all {} processes ({})", mpi->name(), launch.processes,
                            launch.launcher));
  }
  if (launcher != nullptr) launcher->start(options);
  backend.start(options);
  // MPI's world may be another than the job that the variables tell of.
  if (launcher == nullptr && backend.info().one_rank_per_process && !launch.may_be_part)
    backend.from_process_0({}, launch.processes);
}

void finish_libraries(const Backend& backend, const Backend* launcher, double limit_s,
                      const std::function<void(const std::string&)>& give_up) {
  Activity activity;
  const auto watchdog = start_watchdog(activity, [&](double stuck_s) {
    give_up(fmt::format("{} has not ended within {:.0f} s, though all ranks are done",
                        backend.name(), stuck_s));
  });
  const Expected expected(activity, limit_s);
  backend.finish();
  if (launcher != nullptr) launcher->finish();
}

}  // namespace ccl_tests
