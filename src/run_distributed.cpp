#include "src/run_distributed.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/backends/registry.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/agreement.hpp"
#include "src/core/host.hpp"
#include "src/devices/staged.hpp"
#include "src/run/failure_cause.hpp"
#include "src/run/rank_device.hpp"
#include "src/startup.hpp"
#include "src/uncaught.hpp"

namespace ccl {
namespace {

void say(const Launch& launch, std::string_view line) {
  fmt::print(stderr, "[{} rank {}/{}] {}\n", this_host(), launch.process, launch.processes, line);
  std::fflush(stderr);
}

std::unique_ptr<Control> meet_peers(const Launch& launch, const Backend* launcher, double limit_s) {
  const auto lost = [launch](const Failure& failure) {
    say(launch, failure.message);
    std::fflush(nullptr);
    // Process 0 carries the news to the others.
    if (launch.process == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::_Exit(failure.code);
  };
  return meet(launch, launcher, {1, limit_s, CCL_VERSION, {}}, lost,
              [launch](const std::string& line) { say(launch, line); });
}

void require_same_backend(Bootstrap& bootstrap, const Backend& backend, double limit_s) {
  if (const auto why = disagreement(bootstrap, limit_s, "run_distributed",
                                    {{"the backend", std::string(backend.name())}}))
    throw UsageError(*why);
}

// The primitives work on host memory: a library that takes a GPU's gets copies. Collective.
class OnHost {
 public:
  OnHost(const Backend& library, Bootstrap& bootstrap, double limit_s) : backend_(&library) {
    if (library.memories().front() == Memory::host) return;
    gpu_ = take_device(open_gpus(), bootstrap, {}, limit_s).device;
    copied_ = on_host_memory(library, *gpu_);
    backend_ = copied_.get();
  }
  const Backend& backend() const { return *backend_; }

 private:
  const Backend* backend_;
  std::unique_ptr<Device> gpu_;
  std::unique_ptr<Backend> copied_;
};

int report(const Launch& launch, Control* control, const Failure& own) {
  if (control == nullptr) {
    say(launch, own.message);
    return own.code;
  }
  const Failure why = explain(*control, own);
  say(launch, why.message);
  control->abort(why.code,
                 fmt::format("rank {}/{}: {}", launch.process, launch.processes, why.message));
  return why.code;
}

}  // namespace

int run_distributed(const DistributedOptions& options,
                    const std::function<void(primitives::Group& world)>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error, not a death
  Launch launch;
  std::unique_ptr<Control> control;
  try {
    launch = detect_launch(process_environment());
    const BackendPtr backend = open_backend(options.backend, launch.mpi_module);
    backend->open_library({});
    backend->check(options.backend_options);
    if (options.backend_options.gloo_algorithm == "halving_doubling")
      throw Unsupported(
          "halving_doubling: Gloo makes an object of it for each buffer, which "
          "primitives do not change together; accepted: ring, bcube");
    const BackendPtr launcher = open_launcher(launch);
    start_libraries(*backend, launcher.get(), options.limit_s,
                    [&](const std::string& line) { say(launch, line); });
    control = meet_peers(launch, launcher.get(), options.limit_s);
    const UncaughtWatch uncaught([&](const std::string& what) {
      const int code = report(launch, control.get(), {exit_code(Exit::failed), what});
      std::fflush(nullptr);
      std::_Exit(code);
    });
    ThreadRanks ranks(*control, 1);
    require_same_backend(ranks.rank(0), *backend, options.limit_s);
    {
      const OnHost library(*backend, ranks.rank(0), options.limit_s);
      primitives::Group world(ranks.rank(0), {&library.backend(), options.backend_options},
                              options.limit_s);
      body(world);
      world.exchange("");  // nobody closes what others still use
    }
    backend->finish();
    if (launcher) launcher->finish();
    return exit_code(Exit::passed);
  } catch (const Error& e) {
    return report(launch, control.get(), {exit_code(e.code()), e.what()});
  } catch (const std::exception& e) {
    return report(launch, control.get(), {exit_code(Exit::failed), e.what()});
  }
}

}  // namespace ccl
