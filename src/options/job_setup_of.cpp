#include "src/options/job_setup_of.hpp"

#include <fmt/format.h>

#include "src/options/settings.hpp"

namespace ccl_tests {

JobSetup job_setup(const Collective& collective, const Options& o,
                   const std::vector<std::string>& arguments) {
  JobSetup job;
  job.program = fmt::format("{}_perf", collective.name);
  job.arguments = arguments;
  job.shared = shared_settings(collective, o);
  job.launcher = o.job.launcher;
  job.threads = o.job.threads;
  job.ranks_per_thread = o.job.ranks_per_thread;
  job.local_processes = o.job.local_processes;
  job.backend = o.job.backend;
  job.library = o.job.library;
  job.backend_options = o.backend;
  job.backend_options.peers = collective.domain.peers;
  job.memory = o.gpu.memory;
  if (collective.needs.host_memory)
    job.host_memory_only =
        fmt::format("{} works on host memory, which is copied for a library on GPUs", job.program);
  job.expect_gpus = o.gpu.expect_gpus;
  job.first_device = o.gpu.first_device;
  job.gpu_flags = gpu_flags(o);
  job.bind = o.job.bind;
  job.inject = o.check.inject;
  job.init_timeout_s = o.backend.init_timeout_s;
  job.timeout_s = o.job.timeout_s;
  job.communicators_per_rank = o.sweep.grouping.splits() ? 2 : 1;  // in a group, in the world
  job.heartbeat_file = o.output.heartbeat_file;
  job.disagreement = [&collective, &o](ControlChannel& channel, const NamedValue& backend) {
    return settings_disagreement(channel, collective, o, backend);
  };
  return job;
}

}  // namespace ccl_tests
