#include "src/run_distributed.hpp"

#include <fmt/format.h>

#include <atomic>
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
#include "src/standard_files.hpp"
#include "src/startup.hpp"
#include "src/uncaught.hpp"

namespace ccl_tests {
namespace {

// One process of the job: says once why it ends, whichever of its threads learns it first.
class Process {
 public:
  explicit Process(const DistributedOptions& options) : limit_s_(options.limit_s) {}

  void detect() { launch_ = detect_launch(process_environment()); }
  const Launch& launch() const { return launch_; }
  Control& control() { return *control_; }

  void say(const std::string& line) const {
    fmt::print(stderr, "[{} rank {}/{}] {}\n", this_host(), launch_.process, launch_.processes,
               line);
    std::fflush(stderr);
  }

  void meet_peers(const Backend* launcher) {
    control_ = meet(
        launch_, launcher, {1, limit_s_, CCL_VERSION, {}}, [this](const Failure& f) { lost(f); },
        [this](const std::string& line) { say(line); });
  }

  // Tells the others. Returns the exit code. own_fault: nothing that others did can be the cause.
  int report(const Failure& own, bool own_fault) {
    const bool first = !said_.exchange(true);
    const Failure why = control_ == nullptr || own_fault ? own : explain(*control_, own);
    if (first) say(why.message);
    if (control_ != nullptr)
      control_->abort(
          why.code, fmt::format("rank {}/{}: {}", launch_.process, launch_.processes, why.message));
    return why.code;
  }

  // Of the exception that is being handled.
  int report_caught() {
    try {
      throw;
    } catch (const Error& e) {
      return report({exit_code(e.code()), e.what()}, false);
    } catch (const std::exception& e) {
      return report({exit_code(Exit::failed), e.what()}, true);
    } catch (...) {
      return report(
          {exit_code(Exit::failed), "the function that was given threw what is no std::exception"},
          true);
    }
  }

 private:
  // Another process is gone or has failed, and this one may be inside the library.
  void lost(const Failure& failure) {
    if (said_.exchange(true)) return;
    say(failure.message);
    std::fflush(nullptr);
    // Process 0 carries the news to the others.
    if (launch_.process == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::_Exit(failure.code);
  }

  double limit_s_;
  Launch launch_;
  std::unique_ptr<Control> control_;
  std::atomic<bool> said_ = false;
};

void require_same_backend(ControlChannel& channel, const Backend& backend, double limit_s) {
  if (const auto why = disagreement(channel, limit_s, "run_distributed",
                                    {{"the backend", std::string(backend.name())}}))
    throw UsageError(*why);
}

void check(const DistributedOptions& options) {
  if (!(options.limit_s > 0))
    throw UsageError(
        fmt::format("limit_s: {:g} s is no time to wait; accepted: more than 0", options.limit_s));
  if (options.backend_options.gloo_algorithm == "halving_doubling")
    throw Unsupported(
        "halving_doubling: Gloo makes an object of it for each buffer, which primitives do not "
        "change together; accepted: ring, bcube");
}

// The primitives work on host memory: a library that takes a GPU's gets copies. Collective.
class OnHost {
 public:
  OnHost(const Backend& library, ControlChannel& channel, double limit_s) : backend_(&library) {
    if (library.info().memories.front() == Memory::host) return;
    gpu_ = take_device(open_gpus(), channel, {}, limit_s).device;
    copied_ = on_host_memory(library, *gpu_);
    backend_ = copied_.get();
  }
  const Backend& backend() const { return *backend_; }

 private:
  const Backend* backend_;
  std::unique_ptr<Device> gpu_;
  std::unique_ptr<Backend> copied_;
};

}  // namespace

int run_distributed(const DistributedOptions& options,
                    const std::function<void(primitives::Group& world)>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error, not a death
  reserve_standard_files();
  Process process(options);
  try {
    check(options);
    process.detect();
    const BackendPtr backend = open_backend(options.backend, process.launch().mpi_module);
    backend->open_library({});
    check_options(*backend, options.backend_options);
    const BackendPtr launcher = open_launcher(process.launch());
    start_libraries(*backend, launcher.get(), options.limit_s,
                    [&](const std::string& line) { process.say(line); });
    process.meet_peers(launcher.get());
    const UncaughtWatch uncaught([&](const std::string& what) {
      const int code = process.report({exit_code(Exit::failed), what}, false);
      std::fflush(nullptr);
      std::_Exit(code);
    });
    ThreadRanks ranks(process.control(), 1);
    require_same_backend(ranks.rank(0), *backend, options.limit_s);
    {
      const OnHost library(*backend, ranks.rank(0), options.limit_s);
      primitives::Group world(ranks.rank(0), {&library.backend(), options.backend_options},
                              options.limit_s);
      try {
        body(world);
        world.all_gather("");  // nobody closes what others still use
      } catch (...) {
        const int code = process.report_caught();  // before others see the connections close
        world.communicator().abort();
        return code;
      }
    }
    backend->finish();
    if (launcher) launcher->finish();
    return exit_code(Exit::passed);
  } catch (...) {
    return process.report_caught();
  }
}

}  // namespace ccl_tests
