#include "src/job/job_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/job/rank_cpus.hpp"

namespace ccl_tests {

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

}  // namespace ccl_tests
