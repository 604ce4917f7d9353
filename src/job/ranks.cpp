#include "src/job/ranks.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <thread>
#include <utility>

#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/thread.hpp"
#include "src/job/activity.hpp"
#include "src/job/thread_stack.hpp"

namespace ccl_tests {

void FailureBox::expect() {
  const std::lock_guard lock(mutex_);
  expected_ = true;
}

void FailureBox::put(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

std::optional<Failure> FailureBox::wait_for_end(int ranks) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || (finished_ >= ranks && !expected_); });
  return failure_;
}

bool FailureBox::wait_for_ranks(int ranks, double limit_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(limit_s),
                           [&] { return finished_ >= ranks; });
}

void FailureBox::finished() {
  const std::lock_guard lock(mutex_);
  ++finished_;
  changed_.notify_all();
}

Failure explain(Control& control, const Failure& own) {
  const bool timed_out = own.code == exit_code(Exit::timed_out);
  if (!timed_out && own.code != exit_code(Exit::failed)) return own;
  if (control.processes() == 1) return own;
  // A peer that timed out closes its connections at once and is as patient before it says so: who
  // sees only these closed must wait longer, or the shadow is reported before the cause.
  const double patience_s = timed_out ? 2 : 3;
  Failure known = control.wait_failure(patience_s);
  if (known.code == 0) return own;
  if (known.message.ends_with(own.message)) return known;
  known.message = own.message.ends_with(known.message)
                      ? own.message
                      : fmt::format("{} (seen here as: {})", known.message, own.message);
  return known;
}

namespace {

// Behind "rank 1/3 on host: ".
std::string_view what_of(std::string_view message) {
  const std::size_t colon = message.find(": ");
  return colon == std::string_view::npos ? message : message.substr(colon);
}

// Tells what happened here, and what process 0 knows: which failure came first, who is silent. What
// all ranks found alike is said once.
std::vector<std::string> causes(const Failure& own, const Failure& first) {
  if (first.message.starts_with(own.message)) return {first.message};
  if (first.code == 0 || own.message.starts_with(first.message)) return {own.message};
  // Behind it may stand where all ranks are.
  if (what_of(first.message).starts_with(what_of(own.message))) return {first.message};
  return {own.message, "first: " + first.message};
}

class ProcessRanks {
 public:
  ProcessRanks(const Process& process, Control& control, FailureBox& failure, Activity& activity,
               const RankBody& body)
      : process_(process),
        control_(control),
        failure_(failure),
        body_(body),
        channels_(control, process.options.ranks_per_process()),
        stacks_(process.options.ranks_per_process()),
        activities_(static_cast<std::size_t>(process.options.ranks_per_process() - 1)),
        first_activity_(activity) {}

  ~ProcessRanks() { control_.report_status({}); }

  int run(const WriteEnd& write_end, RanksEnd& end) {
    control_.report_status([this] { return statuses(); });
    std::thread supervisor = start_thread([&] { supervise(write_end, end); });
    if (ranks() == 1) {
      run_rank(0);
    } else {
      run_on_threads();
    }
    supervisor.join();
    return exit_code_;
  }

 private:
  int ranks() const { return process_.options.ranks_per_process(); }
  Activity& activity(int thread) {
    return thread == 0 ? first_activity_ : activities_[static_cast<std::size_t>(thread - 1)];
  }

  std::vector<RankStatus> statuses() {
    std::vector<RankStatus> all;
    for (int t = 0; t < ranks(); ++t)
      all.push_back(activity(t).status(control_.process() * ranks() + t));
    return all;
  }

  // Adds what all ranks do in a job of this process alone; in others the control plane adds it.
  void add_statuses(Failure& failure) {
    if (control_.processes() > 1 || ranks() == 1) return;
    const std::vector<RankStatus> all = statuses();
    failure.message += "; last heard of: " + where_ranks_are(all);
    failure.late = late_ranks(all);
  }

  void run_rank(int thread) {
    ControlChannel& channel = channels_.rank(thread);
    Activity& mine = activity(thread);
    stacks_.begin(thread);
    const auto report_at = [&](const std::string& where, int code, const std::string& what) {
      Failure own{code, fmt::format("rank {}/{} on {}: {}: {}", channel.rank(), channel.ranks(),
                                    this_host(), where, what)};
      if (code == exit_code(Exit::timed_out)) add_statuses(own);
      const Failure known = control_.wait_failure(0);
      if (known.code == 0 || !own.message.ends_with(known.message)) failed_here_ = true;
      failure_.put(explain(control_, own));
    };
    const auto report = [&](int code, const std::string& what) {
      report_at(mine.text(), code, what);
    };
    try {
      const auto watchdog = start_watchdog(
          mine, [&](double stuck_s) { report(exit_code(Exit::timed_out), stuck_text(stuck_s)); });
      Rank rank(process_, channel, mine, open_);
      rank.set_on_failure(report_at);
      rank.start();
      if (thread == 0 && process_.launch.local_process < 0)
        first_on_host_ = rank.table().is_first_on_host(rank.rank());
      const int code = rank.code_with_faults(body_(rank));
      int worst = verdict_.load();
      while (!verdict_.compare_exchange_weak(worst, most_severe(worst, code))) {
      }
    } catch (const Error& e) {
      report(exit_code(e.code()), e.what());
    } catch (const std::exception& e) {
      report(exit_code(Exit::failed), e.what());
    } catch (...) {
      report(exit_code(Exit::failed), "an exception of unknown type");
    }
    stacks_.end(thread);
    failure_.finished();
  }

  // One thread for each rank. If the system gives no more threads: a failure.
  void run_on_threads() {
    std::vector<std::thread> running;
    running.reserve(static_cast<std::size_t>(ranks()));
    for (int t = 0; t < ranks(); ++t) {
      try {
        running.push_back(start_thread([this, t] { run_rank(t); }));
      } catch (const Unsupported& e) {
        failed_here_ = true;
        failure_.put({exit_code(e.code()),
                      fmt::format("rank {} of {} in this process: {}", t + 1, ranks(), e.what())});
        for (int missing = t; missing < ranks(); ++missing) failure_.finished();
        break;
      }
    }
    for (std::thread& thread : running) thread.join();
  }

  void log_stacks() const try {
    constexpr double limit_s = 2;
    for (const auto& [thread, stack] : stacks_.texts(limit_s)) {
      process_.log(fmt::format("rank {}/{} on {}: stack: {}", control_.process() * ranks() + thread,
                               control_.processes() * ranks(), this_host(), stack));
    }
  } catch (const Error&) {  // no thread to ask on: what happened has been said
  }

  // Runs on a thread of its own, since a rank may be stuck inside the library.
  void supervise(const WriteEnd& write_end, RanksEnd& end) {
    const std::optional<Failure> failure = failure_.wait_for_end(ranks());
    if (!failure) {
      end.exit_code = verdict_;
      exit_code_ = write_end(end);
      return;
    }
    const Failure& why = *failure;
    end.failure = why.code;
    // A launcher that was told to end the job kills this process as soon as another one has ended, or
    // a second later: then the footer comes first of all.
    const bool interrupted = why.code > 128;
    if (interrupted) {
      end.errors = {why.message};
      // A launcher tells the others to end because it has lost process 0.
      constexpr double news_s = 0.1;
      end.lost_process_0 = control_.wait_process_0_gone(news_s);
      const Failure known = control_.wait_failure(0);
      if (end.lost_process_0 && known.code != 0) {
        end.errors.push_back(known.message);
        end.gone = known.gone;
        end.gone_hosts = known.gone_hosts;
      }
      exit_code_ = write_end(end);
    }
    control_.abort(why);
    const Failure first = control_.wait_failure(0);
    end.errors = causes(why, first);
    end.gone = why.gone;
    end.gone.insert(end.gone.end(), first.gone.begin(), first.gone.end());
    end.gone_hosts = why.gone_hosts;
    end.gone_hosts.insert(end.gone_hosts.end(), first.gone_hosts.begin(), first.gone_hosts.end());
    end.late = first.late.empty() ? why.late : first.late;
    end.lost_process_0 = control_.wait_process_0_gone(0);
    if (!interrupted) exit_code_ = write_end(end);
    // A failure that a process has only heard of is said once on its host, and by process 0. So is a
    // refusal: nothing is broken that could keep them from it.
    const bool refusal =
        why.code == exit_code(Exit::usage) || why.code == exit_code(Exit::unsupported);
    const bool said_elsewhere = (!failed_here_ || refusal) && control_.process() != 0 &&
                                !first_on_host_ && !end.lost_process_0;
    if (!said_elsewhere)
      for (const std::string& line : end.errors) process_.log(line);
    constexpr int timed_out = exit_code(Exit::timed_out);
    const bool hang = why.code == timed_out || first.code == timed_out;
    if (hang) log_stacks();
    open_.abort_all();
    channels_.abort(why.message);
    // mpirun kills all processes when the first one ends: that is process 0, which writes the footer and
    // stays until all have said where they hang.
    constexpr double stacks_s = 3, last_s = 5;
    control_.end_report(hang ? stacks_s : 0);
    constexpr double footer_s = 0.9;  // Open MPI's mpirun waits 1 s itself
    control_.wait_process_0_gone(hang ? last_s : footer_s);
    constexpr double grace_s = 1.5;
    if (failure_.wait_for_ranks(ranks(), grace_s)) return;
    // A rank is stuck inside the library, or in a write to a stdout that nobody reads: nothing can be
    // torn down or flushed behind it.
    std::_Exit(exit_code_);
  }

  const Process& process_;
  Control& control_;
  FailureBox& failure_;
  const RankBody& body_;
  ThreadRanks channels_;
  OpenCommunicators open_;
  RankStacks stacks_;
  std::deque<Activity> activities_;  // of all ranks but the first, which the user is shown
  Activity& first_activity_;
  std::atomic<bool> first_on_host_ = process_.launch.local_process <= 0;
  std::atomic<bool> failed_here_ = false;  // by itself, not because of another process
  std::atomic<int> verdict_ = 0;
  std::atomic<int> exit_code_ = 0;
};

}  // namespace

int run_ranks(const Process& process, Control& control, FailureBox& failure, Activity& activity,
              const RankBody& body, const WriteEnd& write_end, RanksEnd& end) {
  ProcessRanks ranks(process, control, failure, activity, body);
  return ranks.run(write_end, end);
}

}  // namespace ccl_tests
