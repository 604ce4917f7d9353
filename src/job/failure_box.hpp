// How a process learns that its job has failed.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "src/bootstrap/control.hpp"

namespace ccl_tests {

// Where a failure is announced, by whatever thread learns of it first; the job's main thread waits
// for it. Thread-safe.
class FailureBox {
 public:
  // A failure is being explained, and will be put.
  void expect();
  void put(Failure failure);  // the first one counts
  Failure value() const;

  // Waits until put(), or until `ranks` have called finished() and no failure is expected; true: a
  // failure came.
  bool wait_for_end(int ranks);
  // After a failure: true when all ranks have called finished() within limit_s.
  bool wait_for_ranks(int ranks, double limit_s);
  void finished();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;
  bool expected_ = false;
  int finished_ = 0;
};

// Which of several failures that come within moments is the cause of the others.

// What to report when `own` ended a rank of this process: what the control plane learns within
// moments, as a library's error is often the shadow of a peer's death or of a peer's timeout; `own`
// otherwise. Blocks for up to 3 s when there are other processes. Thread-safe.
Failure explain(Control& control, const Failure& own);

}  // namespace ccl_tests
