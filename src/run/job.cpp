#include "src/run/job.hpp"

#include <fmt/format.h>

#include <memory>
#include <thread>
#include <utility>

#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/host.hpp"
#include "src/core/thread.hpp"
#include "src/run/failure_cause.hpp"
#include "src/run/rank_job.hpp"
#include "src/run/watchdog.hpp"

namespace ccl_tests {
namespace {

// Behind "rank 1/3 on host: ".
std::string_view what_of(std::string_view message) {
  const std::size_t colon = message.find(": ");
  return colon == std::string_view::npos ? message : message.substr(colon);
}

// What happened here, and what process 0 knows: which failure came first, who is silent. What all
// ranks found alike is said once.
std::vector<std::string> causes(const Failure& own, const Failure& first) {
  if (first.message.starts_with(own.message)) return {first.message};
  if (first.code == 0 || own.message.starts_with(first.message)) return {own.message};
  if (what_of(own.message) == what_of(first.message)) return {own.message};
  return {own.message, "first: " + first.message};
}

void guard_rank(Job& job, ControlChannel& channel, const Progress& progress, const Pulse& pulse,
                const std::function<void()>& body) {
  const std::string host = this_host();
  const auto report = [&](int code, const std::string& what) {
    job.failure.put(
        explain(job.control, {code, fmt::format("rank {}/{} on {}: {}: {}", channel.rank(),
                                                channel.ranks(), host, progress.text(), what)}));
  };
  try {
    const Watchdog watchdog(pulse, [&](double stuck_s) {
      report(exit_code(Exit::timed_out),
             fmt::format("inside the library for {:.0f} s without an end", stuck_s));
    });
    body();
  } catch (const Error& e) {
    report(exit_code(e.code()), e.what());
  } catch (const std::exception& e) {
    report(exit_code(Exit::failed), e.what());
  } catch (...) {
    report(exit_code(Exit::failed), "an exception of unknown type");
  }
}

// What the rank threads of a process share; threads that nobody waits for keep it.
struct SharedByRanks {
  explicit SharedByRanks(Job& job)
      : ranks(job.control, job.options.job.ranks_per_process()),
        rank_job{job.collective, job.options, job.arguments, job.launch,
                 job.backend,    job.staging, job.recorder,  job.notes,
                 job.log,        patterns,    open,          job.started_s} {}
  ThreadRanks ranks;
  verify::PatternCache patterns;
  OpenCommunicators open;
  RankJob rank_job;
};

// One thread for each rank, or, when the system gives no more, a failure and fewer.
std::vector<std::thread> start_ranks(Job& job, const std::shared_ptr<SharedByRanks>& shared) {
  const int threads = job.options.job.ranks_per_process();
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    try {
      running.push_back(start_thread([&job, shared, t] {
        ControlChannel& channel = shared->ranks.rank(t);
        Progress own;  // ranks are not in the same phase; the first one's is shown to the user
        Progress& progress = t == 0 ? job.progress : own;
        Pulse pulse;
        guard_rank(job, channel, progress, pulse,
                   [&] { job.body(shared->rank_job, channel, progress, pulse, t == 0); });
        job.failure.finished();
      }));
    } catch (const Unsupported& e) {
      job.failure.put({exit_code(e.code()),
                       fmt::format("rank {} of {} in this process: {}", t + 1, threads, e.what())});
      break;
    }
  }
  return running;
}

}  // namespace

JobEnd run_job(Job& job) {
  const auto shared = std::make_shared<SharedByRanks>(job);
  std::vector<std::thread> running = start_ranks(job, shared);
  const auto ranks = static_cast<int>(running.size());
  JobEnd end;
  std::vector<std::string> errors;
  int failure = 0;
  if (job.failure.wait_for_end(ranks)) {
    const Failure why = job.failure.value();
    failure = why.code;
    job.control.abort(why.code, why.message);
    errors = causes(why, job.control.wait_failure(0));
    for (const std::string& line : errors) job.log(line);
    shared->open.abort_all();
    shared->ranks.abort(why.message);
    constexpr double grace_s = 1.5;
    end.ranks_ended = job.failure.wait_for_ranks(ranks, grace_s);
  }
  end.failed = failure != 0;
  end.exit_code = job.recorder.finish(failure, errors);
  if (failure == 0) {
    for (const std::string& line : job.recorder.unwritten()) job.log(line);
  }
  if (!end.ranks_ended) shared->open.abandon();
  for (std::thread& thread : running) {
    if (end.ranks_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  return end;
}

}  // namespace ccl_tests
