#include "src/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/bootstrap/local_processes.hpp"
#include "src/core/host.hpp"
#include "src/measure/batch.hpp"
#include "src/run/failure_cause.hpp"
#include "src/run/job.hpp"
#include "src/run/staging.hpp"
#include "src/self_check.hpp"
#include "src/signals.hpp"
#include "src/standard_files.hpp"
#include "src/startup.hpp"
#include "src/uncaught.hpp"

namespace ccl_tests {
namespace {

// Lines for stderr carry the host and the process, so that those of many can be told apart.
void say(const std::string& program, const std::string& line) {
  fmt::print(stderr, "{}: [{}] {}\n", program, this_host(), line);
  std::fflush(stderr);
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

// With no launcher and no count of ranks asked for, the default is this whole machine.
std::string choose_default_ranks(Options& o, const Launch& launch, const Backend& backend,
                                 const Staging& staging) {
  if (backend.one_rank_per_process()) return {};
  if (o.threads || o.ranks_per_thread || launch.processes > 1 || launch.launcher != "none")
    return {};
  if (staging.gpus != nullptr) {
    o.threads = staging.gpus->count();
    return fmt::format(
        "no launcher and no -t, -g or --np: this whole machine, {} GPU{}, ranks as threads",
        *o.threads, *o.threads == 1 ? "" : "s");
  }
  o.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 4);
  return fmt::format("no launcher and no -t, -g or --np: this whole machine, {} ranks as threads",
                     *o.threads);
}

void refuse_gpu_flags(const Options& o, const Backend& backend) {
  const std::vector<std::string> flags = gpu_flags(o);
  if (flags.empty() || backend.memories().front() == Memory::cuda) return;
  throw Unsupported(fmt::format("{}: needs a library that works on GPUs; {} does not",
                                fmt::join(flags, ", "), backend.name()));
}

// What a graph or a registration would be of are the library's own buffers.
void refuse_staged_flags(const Options& o, const Staging& staging) {
  const std::vector<std::string> flags = gpu_flags(o);
  if (flags.empty() || !staging.staged) return;
  throw Unsupported(fmt::format("{}: not on buffers in {} memory, which are copied for the library",
                                fmt::join(flags, ", "), name(staging.buffers)));
}

void refuse_more_ranks(const Options& o, const Backend& backend) {
  if (!backend.one_rank_per_process()) return;
  const char* const flag = o.local_processes > 1       ? "--np"
                           : o.ranks_per_process() > 1 ? "-t and -g"
                                                       : nullptr;
  if (flag == nullptr) return;
  throw Unsupported(fmt::format(
      "{}: with {} a process is one rank, and its launcher starts them: mpirun -n {} ...", flag,
      backend.name(), std::max(o.local_processes, o.ranks_per_process())));
}

// Raises the soft limit of open files as far as needed, or says how many are missing.
void provide_files(std::size_t needed) {
  constexpr std::size_t own = 64;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = needed + own;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    throw Unsupported(
        fmt::format("this process needs {} open files, its hard limit is {}; raise it (ulimit -n), "
                    "or use fewer "
                    "ranks per process",
                    wanted, limit.rlim_max));
  }
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<Note> header_notes(const std::string& default_ranks, bool paired) {
  std::vector<Note> notes;
  if (!default_ranks.empty()) notes.push_back({NoteKind::verbose, default_ranks});
  if (paired) return notes;  // what time is depends on more, and is said later
  notes.push_back({NoteKind::verbose,
                   "time: mean of a fixed batch of operations issued back to back (as "
                   "nccl-tests): a rate, not a latency"});
  return notes;
}

class Program {
 public:
  Program(const Collective& collective, std::vector<std::string> arguments, RankBody body)
      : program_(collective),
        body_(body),
        started_s_(monotonic_seconds()),
        name_(fmt::format("{}_perf", collective.name)),
        arguments_(std::move(arguments)) {}

  int run() {
    const Parsed parsed = parse_options(program_, arguments_, process_environment());
    if (parsed.print) {
      fmt::print("{}", *parsed.print);
      return exit_code(Exit::passed);
    }
    options_ = parsed.options;
    if (options_.self_check) return self_check(program_, stdout);
    const Launch launch = find_launch();
    const BackendPtr backend = open(launch);
    refuse_gpu_flags(options_, *backend);
    backend->check(options_.backend_options);
    const Staging staging = place_buffers(collective(), options_, *backend);
    refuse_staged_flags(options_, staging);
    const std::string default_ranks =
        options_.local_processes > 0 ? std::string()
                                     : choose_default_ranks(options_, launch, *backend, staging);
    const int processes = std::max(options_.local_processes, launch.processes);
    check_groups(collective(), options_,
                 unplaced_groups(options_, processes * options_.ranks_per_process()));
    refuse_more_ranks(options_, *backend);
    if (options_.local_processes > 0)
      return run_local_processes(options_.local_processes, without_np(arguments_));
    return run_process(*backend, staging, launch, default_ranks);
  }

 private:
  const Collective& collective() const { return in_mode(program_, options_.mode); }

  Launch find_launch() const {
    Launch launch = detect_launch(process_environment(), options_.bootstrap);
    if (options_.local_processes == 0) return launch;
    if (launch.processes == 1) return {};
    throw UsageError(fmt::format(
        "--np: this is one of {} processes by {}, and each would start {} of its own; accepted: "
        "one or the other, or --bootstrap local",
        launch.processes, launch.launcher, options_.local_processes));
  }

  BackendPtr open(const Launch& launch) const {
    if (!options_.library.empty())
      return open_backend_with(options_.library, options_.backend, launch.mpi_module);
    BackendPtr backend = open_backend(options_.backend, launch.mpi_module);
    backend->open_library({});
    return backend;
  }

  int run_process(const Backend& backend, const Staging& staging, const Launch& launch,
                  const std::string& default_ranks) {
    const int threads = options_.ranks_per_process();
    const std::size_t memberships = options_.grouping.splits() ? 2 : 1;  // in a group, in the world
    provide_files(backend.descriptors_per_rank(launch.processes * threads) * memberships *
                      static_cast<std::size_t>(threads) +
                  static_cast<std::size_t>(launch.processes));
    std::vector<std::unique_ptr<Reporter>> reporters;
    if (launch.process == 0 && body_ == run_rank) {
      if (!options_.output_file.empty()) reporters.push_back(open_file());
      reporters.push_back(table_reporter(stdout));
    }
    MultiReporter recorder(options_, std::move(reporters));
    FailureBox failure;
    const SignalWatch signals([&](int signal) { interrupted(failure, recorder, signal); });
    const auto log = [&](const std::string& line) { say(name_, line); };
    const BackendPtr launcher = open_launcher(launch);
    start_libraries(backend, launcher.get(), options_.init_timeout_s, log);
    const auto control = [&] {
      try {
        return meet(
            launch, launcher.get(), {threads, options_.init_timeout_s, CCL_VERSION, {}},
            [&](const Failure& f) { failure.put(f); }, log);
      } catch (const Error& e) {
        recorder.finish(exit_code(e.code()), {e.what()});
        throw;
      }
    }();
    const UncaughtWatch uncaught([&](const std::string& what) {
      failure.expect();
      failure.put(explain(*control, {exit_code(Exit::failed), what}));
    });
    started_ = true;
    Progress progress;
    std::unique_ptr<Heartbeat> heartbeat;
    if (launch.process == 0)
      heartbeat = std::make_unique<Heartbeat>(progress, name_, options_.heartbeat_file);
    if (heartbeat) recorder.before_print([&] { heartbeat->clear(); });
    recorder.activity([&] { return progress.text(); });
    Job job{collective(),
            options_,
            arguments_,
            launch,
            backend,
            staging,
            *control,
            failure,
            recorder,
            progress,
            header_notes(default_ranks, collective().paired),
            log,
            body_,
            started_s_};
    const JobEnd end = run_job(job);
    // A rank is stuck inside the library: nothing can be torn down behind it.
    if (!end.ranks_ended || uncaught.happened()) {
      std::fflush(nullptr);
      std::_Exit(end.exit_code);
    }
    if (end.failed) return end.exit_code;  // peers may be gone: nobody to finish with
    backend.finish();
    if (launcher) launcher->finish();
    return end.exit_code;
  }

  // Says which file it is when the name was taken.
  std::unique_ptr<Reporter> open_file() const {
    std::string opened;
    auto reporter = [&] {
      try {
        return file_reporter(options_.output_file, &opened);
      } catch (const UsageError& e) {
        throw UsageError(
            fmt::format("-J: {}; accepted: a writable .jsonl, .json or .csv file", e.what()));
      }
    }();
    if (opened != options_.output_file) {
      say(name_, fmt::format("-J: {} exists; writing {}", options_.output_file, opened));
    }
    return reporter;
  }

  void interrupted(FailureBox& failure, MultiReporter& recorder, int signal) {
    const std::string what =
        fmt::format("interrupted by signal {} (SIG{})", signal, sigabbrev_np(signal));
    failure.put({128 + signal, what});
    if (started_) return;
    say(name_, what + " while waiting for the other ranks");
    recorder.finish(128 + signal, {what + " while waiting for the other ranks"});
    std::_Exit(128 + signal);
  }

  const Collective& program_;
  RankBody body_;
  double started_s_;
  std::string name_;
  std::vector<std::string> arguments_;
  Options options_;
  std::atomic<bool> started_ = false;
};

}  // namespace

int run_program(const Collective& collective, int argc, char** argv, RankBody body) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string name = fmt::format("{}_perf", collective.name);
  std::signal(SIGPIPE,
              SIG_IGN);  // a peer or a reader of stdout that is gone is an error, not a death
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  reserve_standard_files();
  try {
    const int code = Program(collective, arguments, body).run();
    if (code == exit_code(Exit::passed)) require_printed();
    return code;
  } catch (const UsageError& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    return exit_code(e.code());
  } catch (const Error& e) {
    say(name, e.what());
    return exit_code(e.code());
  } catch (const std::exception& e) {
    say(name, e.what());
    return exit_code(Exit::failed);
  }
}

}  // namespace ccl_tests
