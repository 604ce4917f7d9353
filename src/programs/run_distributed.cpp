#include "src/programs/run_distributed.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "src/devices/staged.hpp"
#include "src/job/job.hpp"
#include "src/job/watched.hpp"

namespace ccl_tests {

int run_distributed(const DistributedOptions& options,
                    const std::function<void(primitives::Group& world)>& body) {
  return run_main("run_distributed", {}, [&] {
    for (const auto& [name, limit_s] :
         {std::pair("limit_s", options.limit_s),
          std::pair("init_timeout_s", options.backend_options.init_timeout_s)})
      if (!(limit_s > 0))
        throw UsageError(
            fmt::format("{}: {:g} s is no time to wait; accepted: more than 0", name, limit_s));
    JobSetup job;
    job.bind = "none";  // the caller's threads stay where it put them
    job.program = "run_distributed";
    job.backend = options.backend;
    job.backend_options = options.backend_options;
    job.host_memory_only = "primitives work on host memory";
    job.timeout_s = options.limit_s;
    job.whole_machine = false;
    const RankBody on_rank = [&](Rank& rank) {
      constexpr const char* between = "the function that was given";
      // The primitives work on host memory: a library that takes a GPU's memory gets copies.
      const Backend& backend = rank.process().backend;
      std::unique_ptr<Backend> copied;
      if (rank.gpu() != nullptr) copied = on_host_memory(backend, *rank.gpu());
      const auto library = watch_calls(copied ? *copied : backend, rank.activity(), between);
      auto world = std::make_unique<primitives::Group>(
          rank.world(), primitives::Library{library.get(), options.backend_options},
          options.limit_s);
      rank.activity().phase(between);
      try {
        body(*world);
        world->all_gather("");  // nobody closes what others still use
      } catch (const std::exception&) {
        // Stays open until this process ends: others hear why before they see connections close.
        static_cast<void>(world.release());
        throw;
      } catch (...) {
        static_cast<void>(world.release());
        throw Error("it threw what is no std::exception");
      }
      return exit_code(Exit::passed);
    };
    return run_job(job, on_rank);
  });
}

}  // namespace ccl_tests
