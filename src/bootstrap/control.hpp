// The control plane of one process: its membership in the job, beside the library under test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/bootstrap/rank_status.hpp"

namespace ccl_tests {

// The reason why the job cannot go on, as every process learns it. Programs must not read the
// message.
struct Failure {
  int code = 0;
  std::string message;         // "rank 5 on node7 (pid 4711) is gone"
  std::vector<int> gone = {};  // ranks whose process is gone or shows no sign of life
  std::vector<int> late = {};  // ranks that others wait for, if a wait reached its limit
  std::vector<std::string> gone_hosts = {};  // where those of `gone` ran
};

// A failure that was thrown, as an Error or as a Timeout: a second base of both.
struct FailureThrown {
  Failure failure;
};

struct JoinOptions {
  int ranks_per_process = 1;  // rank = process * ranks_per_process + thread
  double init_timeout_s = 120;
  std::string version;  // must agree between processes
  // Where set, it carries process 0's address instead of a store: given its text on process 0,
  // returns that text on every process. Collective.
  std::function<std::string(const std::string&)> from_process_0 = {};
  // A digest of the flags that all processes share, or nothing: it tells who belongs to this job if
  // other jobs may come to the port.
  std::string settings = {};
  Failure refusal = {};  // see decline
  // A process that an exchange waits for, and that shows no sign of life for so long, ends it: it is
  // stopped, or its host is. At least 10 s; 0: as any process that is silent.
  double silence_limit_s = 0;
};

// A part of a job's processes, which exchange among themselves.
struct Team {
  std::string name = {};            // one team's in the whole job; empty: all processes
  std::vector<int> processes = {};  // ascending, without repetition; of a named team
  int root = 0;                     // the process of the team's rank 0
};

// The kinds of calls that the control plane carries between the processes of a job.
enum class ExchangeKind : std::uint8_t { all_gather, gather, broadcast };

constexpr std::string_view name_of(ExchangeKind kind) {
  constexpr std::array<std::string_view, 3> names = {"all_gather", "gather", "broadcast"};
  return names[static_cast<std::size_t>(kind)];
}

class Control {
 public:
  virtual ~Control() = default;  // says goodbye: leaving in order is not a death
  virtual int process() const = 0;
  virtual int processes() const = 0;
  virtual std::vector<std::string> local_addresses() const = 0;  // as ControlChannel's

  // One call between a team's processes. Returns for all_gather every process's bytes, in process
  // order; for gather the same in the process `team.root`, and nothing in the others, which do not
  // wait; for broadcast one text, that of `team.root`. One thread of each process at a time calls
  // it for a team; threads may call it for different teams at once. Throws Timeout naming the ranks
  // and hosts that did not come, Error if the job has failed or processes make different calls.
  // limit_s 0: no limit.
  virtual std::vector<std::string> exchange(ExchangeKind kind, const Team& team,
                                            std::string_view bytes, double limit_s) = 0;
  std::vector<std::string> all_gather(std::string_view bytes, double limit_s) {
    return exchange(ExchangeKind::all_gather, Team{}, bytes, limit_s);
  }

  // Tells all other processes that this one failed, so that they end with `why` too. Once is enough.
  virtual void abort(const Failure& why) noexcept = 0;

  // Blocks for at most limit_s until the control plane knows why the job failed: a peer's death is
  // usually noticed a moment after a library's error. Returns code 0 if nothing is known.
  virtual Failure wait_failure(double limit_s) = 0;

  // Has the control plane ask `statuses` what this process's ranks do, on a thread of its own, every
  // few seconds and when this process fails; the message of a wait that reached its limit says it.
  // Empty: no more; then no call of the one before is under way.
  virtual void report_status(std::function<std::vector<RankStatus>()> statuses) = 0;

  // Blocks for at most limit_s, except in process 0, until process 0 has left or is gone. Returns
  // whether the connection to it broke, or nothing came over it: it did not leave.
  virtual bool wait_process_0_gone(double limit_s) = 0;

  // Says that this process has written all that it has to say about a failure. Blocks in process 0
  // only, for at most limit_s, until every other process has called it too, was silent when the
  // failure came, has left or is gone.
  virtual void end_report(double limit_s) = 0;
};

// A job of this process only.
std::unique_ptr<Control> alone();

// Tells the job's other processes that this one cannot take part, and why, so that they end with its
// code. Blocks for limit_s at most, and a few seconds longer in process 0. Does nothing if a launcher
// ends them by itself (mpirun, --np). Returns whether process 0 has refused to take part, too.
bool decline(const Launch& launch, const Failure& why, double limit_s = 5);

// Finds the job's other processes as `launch` says; every wait within init_timeout_s. on_failure is
// called at most once, on a thread of the control plane, when another process is lost or aborts; it
// may end this process. `log` takes lines for stderr (a stranger's garbage, ...). Throws Timeout
// (missing ranks named), Error.
std::unique_ptr<Control> join(const Launch& launch, const JoinOptions& options,
                              std::function<void(const Failure&)> on_failure,
                              std::function<void(std::string_view)> log);

}  // namespace ccl_tests
