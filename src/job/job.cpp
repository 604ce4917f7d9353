#include "src/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "src/backends/registry.hpp"
#include "src/bootstrap/claims.hpp"
#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/local_processes.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/sha256.hpp"
#include "src/core/version.hpp"
#include "src/core/write_all.hpp"
#include "src/job/activity.hpp"
#include "src/job/signals.hpp"
#include "src/job/startup.hpp"

namespace ccl_tests {
namespace {

Launch find_launch(const JobSetup& o) {
  Launch launch = detect_launch(process_environment(), o.launcher, o.backend);
  if (o.local_processes == 0) return launch;
  if (launch.processes == 1) return {};
  throw UsageError(fmt::format(
      "--np: this is one of {} processes by {}, and each would start {} of its own; accepted: one or the other, or --launcher local",
      launch.processes, launch.launcher, o.local_processes));
}

BackendPtr open_library(const JobSetup& o, const Launch& launch) {
  if (!o.library.empty()) return open_backend_with(o.library, o.backend, launch.mpi_module);
  BackendPtr backend = open_backend(o.backend, launch.mpi_module);
  backend->open_library({});
  return backend;
}

void print_failure(const std::string& program, const Error& e) {
  if (dynamic_cast<const UsageError*>(&e) != nullptr)
    print_error(fmt::format("{}: {}\n", program, e.what()));
  else
    say(program, e.what());
}

// Returns the launcher that a command line asks for. Whatever else is wrong in the line may be.
std::string asked_launcher(const std::vector<std::string>& arguments) {
  std::string asked = "auto";
  const auto take = [&](const std::string& name) {
    for (const char* known : {"torchrun", "env", "mpi", "slurm", "local"})
      if (name == known) asked = name;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const std::string flag : {"--launcher", "--bootstrap"}) {
      if (arguments[i] == flag && i + 1 < arguments.size()) take(arguments[i + 1]);
      if (arguments[i].starts_with(flag + "=")) take(arguments[i].substr(flag.size() + 1));
    }
  }
  return asked;
}

// Tells the job's other processes why this one ends, and prints it. What is wrong in what the user
// gave is wrong in all processes: process 0 says it for those who learn that it ends, too, or whose
// mpirun ends all. of_command_line: it is the same on each host. Otherwise one of each host says it.
void end_early(const std::string& program, const Error& e, const std::optional<Launch>& launch,
               bool of_command_line) {
  const bool may_be_said = dynamic_cast<const UsageError*>(&e) != nullptr && launch &&
                           launch->process != 0 && !launch->by_np();
  if (!may_be_said) print_failure(program, e);
  const bool is_said = launch && decline(*launch, {exit_code(e.code()), e.what()});
  if (!may_be_said || is_said) return;
  const auto programs = process_environment()("OMPI_NUM_APP_CTX");  // mpirun -n 1 A : -n 2 B
  const bool another_says =
      of_command_line ? programs.value_or("1") == "1" : launch->local_process > 0;
  if (!launch->master_host.empty() || !another_says) print_failure(program, e);
}

std::optional<Launch> launch_by_arguments(const std::vector<std::string>& arguments) try {
  return detect_launch(process_environment(), asked_launcher(arguments));
} catch (const Error&) {  // nobody knows where the others are
  return std::nullopt;
}

// Returns what tells jobs apart whose ranks come to one port by chance.
std::string digest_of(const JobSetup& o, const Backend& backend) {
  std::string text = fmt::format("--backend {}\n", backend.name());
  for (const auto& [name, value] : o.shared) text += fmt::format("{} {}\n", name, value);
  return text_digest(text);
}

// This process's part of a job whose library and place of buffers are known.
class ProcessRun {
 public:
  ProcessRun(const Process& process, const RankBody& body, const JobHooks& hooks, bool& joins)
      : process_(process),
        options_(process.options),
        launch_(process.launch),
        body_(body),
        hooks_(hooks),
        joins_(joins) {}

  int run() {
    const int threads = options_.ranks_per_process();
    provide_descriptors(process_.backend.info().descriptors_per_rank(launch_.processes * threads) *
                            static_cast<std::size_t>(options_.communicators_per_rank * threads) +
                        static_cast<std::size_t>(launch_.processes));
    if (hooks_.open) hooks_.open(process_);
    if (launch_.process == 0) {
      if (hooks_.doing) activity_.tell(hooks_.doing);
      heartbeat_.emplace(activity_, options_.program, options_.heartbeat_file);
    }
    const SignalWatch signals([&](int signal) { interrupted(signal); });
    const BackendPtr launcher = open_launcher(launch_);
    activity_.phase(
        fmt::format("starting {}", launcher ? launcher->name() : process_.backend.name()));
    const auto control = start(launcher.get(), signals);
    const UncaughtWatch uncaught([&](const std::string& what) {
      failure_.expect();
      failure_.put(explain(*control, {exit_code(Exit::failed), me() + ": " + what}));
    });
    started_ = true;
    const RanksEnd end = run_ranks_of_this_process(*control);
    if (uncaught.happened()) {  // the library lacks a thread, and may wait for it for ever
      std::fflush(nullptr);
      std::_Exit(exit_code_);
    }
    if (end.failure != 0) return exit_code_;  // peers may be gone: nobody to finish with
    finish_libraries(process_.backend, launcher.get(), options_.timeout_s,
                     [this](const std::string& what) {
                       process_.log(me() + ": " + what);
                       std::fflush(nullptr);
                       std::_Exit(exit_code_);
                     });
    return exit_code_;
  }

 private:
  std::unique_ptr<Control> start(const Backend* launcher, const SignalWatch& signals) try {
    start_libraries(process_.backend, launcher, options_.library_options(), launch_, process_.log,
                    [this](const std::string& why) {
                      process_.log(why);
                      write_end({exit_code(Exit::timed_out), 0, {why}});
                    });
    signals.take_back();
    activity_.phase("waiting for the other processes");
    joins_ = true;
    return join_job(launcher);
  } catch (const Error& e) {
    RanksEnd end{exit_code(e.code()), 0, {e.what()}};
    if (const auto* thrown = dynamic_cast<const FailureThrown*>(&e)) {
      end.gone = thrown->failure.gone;
      end.gone_hosts = thrown->failure.gone_hosts;
    }
    write_end(end);
    throw;
  }

  // Joins through `launcher` if that is there. Without other processes the job is this one's alone.
  std::unique_ptr<Control> join_job(const Backend* launcher) {
    if (launch_.processes == 1) return alone();
    JoinOptions options{.ranks_per_process = options_.ranks_per_process(),
                        .init_timeout_s = options_.backend_options.init_timeout_s,
                        .version = version(),
                        .settings = digest_of(options_, process_.backend),
                        .silence_limit_s = options_.timeout_s};
    if (launcher != nullptr)
      options.from_process_0 = [this, launcher](const std::string& text) {
        return launcher->from_process_0(text, launch_.processes);
      };
    return join(
        launch_, options, [this](const Failure& f) { failure_.put(f); },
        [this](std::string_view line) { process_.log(std::string(line)); });
  }

  int write_end(RanksEnd end) const {
    if (const std::string lost = heartbeat_ ? heartbeat_->lost() : ""; !lost.empty()) {
      process_.log(lost);
      if (end.failure == 0) end.failure = exit_code(Exit::failed);
      end.errors.push_back(lost);
    }
    if (hooks_.write_end) return hooks_.write_end(end);
    return end.failure != 0 ? end.failure : end.exit_code;
  }

  RanksEnd run_ranks_of_this_process(Control& control) {
    if (heartbeat_) {
      heartbeat_->begin();
      if (hooks_.show) hooks_.show([&] { return activity_.text(); }, [&] { heartbeat_->clear(); });
    }
    RanksEnd end;
    exit_code_ = run_ranks(
        process_, control, failure_, activity_, body_,
        [this](const RanksEnd& e) { return write_end(e); }, end);
    if (hooks_.show) hooks_.show([] { return std::string(); }, [] {});
    heartbeat_.reset();
    return end;
  }

  // "rank 2 on node7"
  std::string me() const {
    return fmt::format("{} on {}", ranks_name(launch_.process, options_.ranks_per_process()),
                       this_host());
  }

  void interrupted(int signal) {
    const std::string what =
        fmt::format("{}: interrupted by signal {} (SIG{})", me(), signal, signal_name(signal));
    failure_.put({128 + signal, what});
    if (started_) return;
    const std::string when = what + " during " + activity_.text();
    process_.log(when);
    write_end({128 + signal, 0, {when}});
    std::_Exit(128 + signal);
  }

  const Process& process_;
  const JobSetup& options_;
  const Launch& launch_;
  const RankBody& body_;
  const JobHooks& hooks_;
  FailureBox failure_;
  Activity activity_;
  std::optional<Heartbeat> heartbeat_;  // of process 0
  bool& joins_;                         // the others learn of failures by themselves
  std::atomic<bool> started_ = false;
  int exit_code_ = 0;
};

// joins: set to true when the others learn of failures by themselves.
int run_launched(JobSetup& options, const Launch& launch, const RankBody& body,
                 const JobHooks& hooks, double started_s, bool& joins) {
  const BackendPtr backend = open_library(options, launch);
  const Staging staging = settle(options, launch, *backend);
  const Process process{
      options,
      launch,
      *backend,
      staging,
      [program = options.program](const std::string& line) { say(program, line); },
      started_s};
  const int processes = std::max(options.local_processes, launch.processes);
  const int ranks = processes * options.ranks_per_process();
  if (options.inject) require_rank(*options.inject, ranks);
  if (hooks.check) hooks.check(process, ranks);
  if (options.local_processes > 0)
    return run_local_processes(options.local_processes, without_np(options.arguments));
  return ProcessRun(process, body, hooks, joins).run();
}

}  // namespace

void say(const std::string& program, const std::string& line) {
  print_error(fmt::format("{}: [{}] {}\n", program, this_host(), line));
}

bool is_first_process(const std::string& launcher) {
  try {
    return detect_launch(process_environment(), launcher).process == 0;
  } catch (const Error&) {  // what is wrong there is said elsewhere
    return !is_claimed_not_first(process_environment());
  }
}

int print_page(const std::string& page, const std::vector<std::string>& arguments) {
  if (is_first_process(asked_launcher(arguments))) fmt::print("{}", page);
  return exit_code(Exit::passed);
}

int run_job(const JobSetup& asked, const RankBody& body, const JobHooks& hooks) {
  const double started_s = monotonic_seconds();
  JobSetup options = asked;
  const Launch launch = find_launch(options);
  bool joins = false;
  try {
    return run_launched(options, launch, body, hooks, started_s, joins);
  } catch (const Error& e) {
    if (joins)
      print_failure(options.program, e);
    else
      end_early(options.program, e, launch, false);
    return exit_code(e.code());
  }
}

int run_main(const std::string& program, const std::vector<std::string>& arguments,
             const std::function<int()>& main) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer or a reader of stdout that is gone is an error
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  reserve_standard_files();
  try {
    const int code = main();
    if (code != exit_code(Exit::passed)) return code;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    say(program, "cannot write to standard output");
  } catch (const Error& e) {
    end_early(program, e, launch_by_arguments(arguments), true);
    return exit_code(e.code());
  } catch (const std::exception& e) {
    say(program, e.what());
  }
  return exit_code(Exit::failed);
}

}  // namespace ccl_tests
