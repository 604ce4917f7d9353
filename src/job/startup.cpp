#include "src/job/startup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "src/bootstrap/wait_notice.hpp"
#include "src/core/error.hpp"
#include "src/job/watchdog.hpp"

namespace ccl_tests {

void reserve_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) != -1) continue;
    // The lowest number that is free, which is this one.
    static_cast<void>(::open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void require_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("cannot write to standard output");
}

BackendPtr open_launcher(const Launch& launch) {
  if (launch.processes == 1 || !launch.master_host.empty()) return nullptr;
  try {
    return open_backend(launch.mpi_module);
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
  const Watchdog watchdog(activity, [&](double) {
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
}

void finish_libraries(const Backend& backend, const Backend* launcher, double limit_s,
                      const std::function<void(const std::string&)>& give_up) {
  Activity activity;
  const Watchdog watchdog(activity, [&](double stuck_s) {
    give_up(fmt::format("{} has not ended within {:.0f} s, though all ranks are done",
                        backend.name(), stuck_s));
  });
  const Expected expected(activity, limit_s);
  backend.finish();
  if (launcher != nullptr) launcher->finish();
}

std::unique_ptr<Control> join_job(const Launch& launch, const Backend* launcher,
                                  JoinOptions options,
                                  std::function<void(const Failure&)> on_failure,
                                  const std::function<void(const std::string&)>& say) {
  if (launch.processes == 1) return alone();
  if (launcher != nullptr) {
    options.from_process_0 = [launcher, &launch](const std::string& text) {
      return launcher->from_process_0(text, launch.processes);
    };
  }
  return join(launch, options, std::move(on_failure),
              [say](std::string_view line) { say(std::string(line)); });
}

}  // namespace ccl_tests
