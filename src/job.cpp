#include "src/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "src/alltoallv_options.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/devices/host_memory.hpp"
#include "src/memory_limit.hpp"
#include "src/rank_run.hpp"
#include "src/watchdog.hpp"

namespace ccl {
namespace {

// What every rank tells all others before anything is measured.
struct Identity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // available on its machine

  static Identity mine() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return {name.data(), machine_id(), cpu_model(), static_cast<long>(getpid()),
            available_memory()};
  }
  // Containers and network namespaces of one kernel are hosts of their own.
  std::string place() const { return host + ' ' + machine; }
  std::string text() const { return nlohmann::json{host, machine, cpu, pid, memory}.dump(); }
  static Identity from(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
  }
};

std::vector<Identity> meet(Bootstrap& bootstrap, double limit_s) {
  std::vector<Identity> all;
  for (const std::string& text : bootstrap.exchange(Identity::mine().text(), limit_s))
    all.push_back(Identity::from(text));
  return all;
}

bool on_one_machine(const std::vector<Identity>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const Identity& r) { return r.machine == ranks[0].machine; });
}

// Bytes of one rank's buffer that every machine can hold twice for each of its ranks, beside what
// the library takes.
std::size_t memory_per_buffer(const std::vector<Identity>& ranks, double scratch) {
  std::map<std::string, std::size_t> ranks_on;
  for (const Identity& r : ranks) ++ranks_on[r.machine];
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const Identity& r : ranks)
    limit = std::min(limit, buffer_limit(r.memory, ranks_on[r.machine], scratch));
  return limit;
}

std::vector<RankLine> rank_lines(const std::vector<Identity>& ranks) {
  std::map<std::string, int> next_on;  // place
  std::vector<RankLine> lines;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    lines.push_back({static_cast<int>(r), 0, ranks[r].pid, ranks[r].host,
                     next_on[ranks[r].place()]++, ranks[r].cpu});
  }
  return lines;
}

// "8 ranks on 2 hosts: 4 on each", or from the fewest to the most.
std::string ranks_per_host(const std::vector<Identity>& ranks) {
  std::map<std::string, int> count;
  for (const Identity& r : ranks) ++count[r.place()];
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  const std::string each = fewest->second == most->second
                               ? fmt::format("{} on each", most->second)
                               : fmt::format("{} to {} on each", fewest->second, most->second);
  return fmt::format("{} ranks on {} hosts: {}", ranks.size(), count.size(), each);
}

RunRecord describe(const Job& job, const std::vector<Identity>& ranks, const SizePlan& plan,
                   const Communicator& communicator) {
  const Options& o = job.options;
  RunRecord run;
  run.program = fmt::format("{}_perf", job.collective.name);
  run.version = CCL_VERSION;
  run.backend = job.backend.name();
  run.library_version = job.backend.version();
  run.library_file = job.backend.library();
  run.arguments = job.arguments;
  for (const char* variable :
       {"NCCL_TESTS_MIN_BW", "NCCL_TESTS_ALLTOALLV_SPREAD", "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
        "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
        "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    if (const auto value = process_environment()(variable))
      run.environment.emplace_back(variable, *value);
  }
  run.launcher = job.launch.launcher;
  run.threads = o.threads.value_or(1);
  run.ranks_per_thread = o.ranks_per_thread.value_or(1);
  run.processes = job.control.processes();
  run.ranks = static_cast<int>(ranks.size());
  run.min_bytes = o.sizes.empty() ? o.min_bytes : *std::min_element(o.sizes.begin(), o.sizes.end());
  run.max_bytes = o.sizes.empty() ? o.max_bytes : *std::max_element(o.sizes.begin(), o.sizes.end());
  run.step_bytes = o.step_bytes;
  run.step_factor = o.step_factor;
  run.sizes = o.sizes;
  run.warmup = o.warmup;
  run.iterations = o.iterations;
  run.aggregate = o.aggregate;
  run.check = o.check;
  run.average = o.average;
  run.blocking = o.blocking;
  run.cycles = o.cycles;
  run.unalign = o.unalign;
  run.parallel_init = o.parallel_init;
  run.cpu_time = o.cpu_time;
  run.timestamps = o.timestamps;
  run.seed = o.seed;
  run.cpus_allowed = allowed_cpus();
  run.notes = job.notes;
  if (ranks.front().place() != ranks.back().place()) run.notes.push_back(ranks_per_host(ranks));
  std::istringstream description(communicator.description());
  for (std::string line; std::getline(description, line);) run.notes.push_back(line);
  run.reduced_max = plan.reduced_max;
  run.rank_lines = rank_lines(ranks);
  run.start_time = local_time();
  return run;
}

// The operations that other threads may have to be torn out of.
class OpenCommunicators {
 public:
  void add(Communicator* communicator) {
    const std::lock_guard lock(mutex_);
    open_.insert(communicator);
  }
  void remove(Communicator* communicator) {
    const std::lock_guard lock(mutex_);
    open_.erase(communicator);
  }
  void abort_all() {
    const std::lock_guard lock(mutex_);
    for (Communicator* c : open_) c->abort();
  }

 private:
  std::mutex mutex_;
  std::set<Communicator*> open_;
};

void run_rank(Job& job, Bootstrap& bootstrap, Progress& progress, Pulse& pulse,
              bool first_of_process, verify::PatternCache& patterns, OpenCommunicators& open) {
  const Options& o = job.options;
  const std::vector<Identity> ranks = meet(bootstrap, o.init_timeout_s);
  const SizePlan plan =
      limit_sizes(job.collective, o, bootstrap.ranks(),
                  memory_per_buffer(ranks, job.backend.scratch_factor(bootstrap.ranks())));
  progress.phase("connecting the library under test");
  const auto communicator = [&] {
    const Watched watched(pulse, o.init_timeout_s + 5);  // later than the library's own limit
    return job.backend.connect(bootstrap, o.backend_options);
  }();
  communicator->set_time_limit(o.timeout_s);
  open.add(communicator.get());
  const struct Leave {
    OpenCommunicators& open;
    Communicator* communicator;
    ~Leave() { open.remove(communicator); }
  } leave{open, communicator.get()};

  const bool reports = first_of_process && bootstrap.rank() == 0;
  if (reports) job.recorder.begin(describe(job, ranks, plan, *communicator));
  const RunContext context{job.collective, o,        plan.sizes,
                           patterns,       progress, on_one_machine(ranks)};
  RankRun run(context, bootstrap, *communicator,
              ranks[static_cast<std::size_t>(bootstrap.rank())].host, pulse);
  run.sweep(
      [&](const Row& row, std::size_t requested) {
        if (first_of_process) job.recorder.row(row, requested);
      },
      [&](const std::string& line) {
        if (first_of_process) job.recorder.note(line);
        if (reports) job.log(line);
      });
  bootstrap.exchange(
      "", o.init_timeout_s);  // nobody tears its connections down while others still use them
}

// A library's error is often the shadow of a peer's death, which the control plane names a moment
// later.
Failure explain(Job& job, const Failure& own) {
  if (own.code != exit_code(Exit::failed) && own.code != exit_code(Exit::timed_out)) return own;
  if (job.control.processes() == 1) return own;
  constexpr double patience_s = 2;
  const Failure known = job.control.wait_failure(patience_s);
  if (known.code == 0) return own;
  return {known.code, fmt::format("{} (seen here as: {})", known.message, own.message)};
}

void guard_rank(Job& job, Bootstrap& bootstrap, const Progress& progress, const Pulse& pulse,
                const std::function<void()>& body) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const auto report = [&](int code, const std::string& what) {
    job.failure.put(
        explain(job, {code, fmt::format("rank {}/{} on {}: {}: {}", bootstrap.rank(),
                                        bootstrap.ranks(), host.data(), progress.text(), what)}));
  };
  const Watchdog watchdog(pulse, [&](double stuck_s) {
    report(exit_code(Exit::timed_out),
           fmt::format("inside the library for {:.0f} s without an end", stuck_s));
  });
  try {
    body();
  } catch (const Error& e) {
    report(exit_code(e.code()), e.what());
  } catch (const std::exception& e) {
    report(exit_code(Exit::failed), e.what());
  }
}

}  // namespace

JobEnd run_job(Job& job) {
  const int threads = job.options.ranks_per_process();
  ThreadRanks ranks(job.control, threads);
  verify::PatternCache patterns;
  OpenCommunicators open;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      Bootstrap& bootstrap = ranks.rank(t);
      Progress own;  // ranks are not in the same phase; the first one's is shown to the user
      Progress& progress = t == 0 ? job.progress : own;
      Pulse pulse;
      guard_rank(job, bootstrap, progress, pulse,
                 [&] { run_rank(job, bootstrap, progress, pulse, t == 0, patterns, open); });
      job.failure.finished();
    });
  }
  JobEnd end;
  std::vector<std::string> errors;
  int failure = 0;
  if (job.failure.wait_for_end(threads)) {
    const Failure why = job.failure.value();
    failure = why.code;
    errors.push_back(why.message);
    job.log(why.message);
    job.control.abort(why.code, why.message);
    open.abort_all();
    ranks.abort(why.message);
    constexpr double grace_s = 1.5;
    end.ranks_ended = job.failure.wait_for_ranks(threads, grace_s);
  }
  end.failed = failure != 0;
  end.exit_code = job.recorder.finish(failure, errors);
  for (std::thread& thread : running) {
    if (end.ranks_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  return end;
}

}  // namespace ccl
