// Other jobs on a port that nobody has given to one of them, as far as their settings tell.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {

class OtherJobs {
 public:
  // may_come: without it all who come are of this job. See ControlServerOptions for patience_s.
  OtherJobs(const Hello& self, bool may_come, double patience_s)
      : self_(self), may_come_(may_come), patience_s_(patience_s) {}

  // Who has other settings is of another job, or of this one and was started with wrong flags. Returns
  // false of the latter, if only such processes have been `missing` for the time of patience.
  bool include(const Hello& hello, const std::vector<int>& missing);

  // True once of each number that a process of other settings has.
  bool is_new(const Hello& hello);

  // A process 0 that cannot listen where this job's does. Returns its refusal if `hello`, or a twin of a
  // process of this job, is likely to be of its job.
  void set_rival(const Hello& hello) { rival_ = hello; }
  bool has_rival() const { return rival_.has_value(); }
  std::optional<Failure> rivals_refusal(const Hello& hello, bool is_twin) const;

  // Processes of other settings, by their numbers; `process` is of this job and there now.
  const std::map<int, Hello>& seen() const { return seen_; }
  void forget(int process) { seen_.erase(process); }

 private:
  Hello self_;
  bool may_come_;
  double patience_s_;
  std::map<int, Hello> seen_;
  std::optional<TimePoint> only_they_miss_;  // since when nobody but these is missing
  std::optional<Hello> rival_;
};

}  // namespace ccl_tests
