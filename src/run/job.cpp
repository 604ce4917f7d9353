#include "src/run/job.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/host.hpp"
#include "src/run/failure_cause.hpp"
#include "src/run/rank_job.hpp"
#include "src/run/watchdog.hpp"

namespace ccl {
namespace {

// What happened here, and what process 0 knows: which failure came first, who is silent.
std::vector<std::string> causes(const Failure& own, const Failure& first) {
  if (first.message.starts_with(own.message)) return {first.message};
  if (first.code == 0 || own.message.starts_with(first.message)) return {own.message};
  return {own.message, "first: " + first.message};
}

void guard_rank(Job& job, Bootstrap& bootstrap, const Progress& progress, const Pulse& pulse,
                const std::function<void()>& body) {
  const std::string host = this_host();
  const auto report = [&](int code, const std::string& what) {
    job.failure.put(
        explain(job.control, {code, fmt::format("rank {}/{} on {}: {}: {}", bootstrap.rank(),
                                                bootstrap.ranks(), host, progress.text(), what)}));
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
  RankJob rank_job{job.collective, job.options,   job.arguments, job.launch,
                   job.backend,    job.placement, job.recorder,  job.notes,
                   job.log,        patterns,      open,          job.started_s};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      Bootstrap& bootstrap = ranks.rank(t);
      Progress own;  // ranks are not in the same phase; the first one's is shown to the user
      Progress& progress = t == 0 ? job.progress : own;
      Pulse pulse;
      guard_rank(job, bootstrap, progress, pulse,
                 [&] { job.body(rank_job, bootstrap, progress, pulse, t == 0); });
      job.failure.finished();
    });
  }
  JobEnd end;
  std::vector<std::string> errors;
  int failure = 0;
  if (job.failure.wait_for_end(threads)) {
    const Failure why = job.failure.value();
    failure = why.code;
    job.control.abort(why.code, why.message);
    errors = causes(why, job.control.wait_failure(0));
    for (const std::string& line : errors) job.log(line);
    open.abort_all();
    ranks.abort(why.message);
    constexpr double grace_s = 1.5;
    end.ranks_ended = job.failure.wait_for_ranks(threads, grace_s);
  }
  end.failed = failure != 0;
  end.exit_code = job.recorder.finish(failure, errors);
  if (failure == 0) {
    for (const std::string& line : job.recorder.unwritten()) job.log(line);
  }
  if (!end.ranks_ended) open.abandon();
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
