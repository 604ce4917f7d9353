#include "src/bootstrap/other_jobs.hpp"

#include <algorithm>

#include "src/bootstrap/job_key.hpp"

namespace ccl_tests {

bool OtherJobs::include(const Hello& hello, const std::vector<int>& missing) {
  if (!may_come_) return false;
  if (hello.refusal.code != 0)  // nobody knows its flags
    return hello.process != 0 && hello.processes != self_.processes;
  if (agree(self_, hello) || (rival_ && agree(*rival_, hello))) return false;
  const bool only_they_miss = std::all_of(missing.begin(), missing.end(), [&](int p) {
    return p == hello.process || seen_.count(p) != 0;
  });
  const auto now = std::chrono::steady_clock::now();
  if (!only_they_miss)
    only_they_miss_.reset();
  else if (!only_they_miss_)
    only_they_miss_ = now;
  return !only_they_miss_ || now < *only_they_miss_ + seconds_to_duration(patience_s_);
}

bool OtherJobs::is_new(const Hello& hello) {
  constexpr std::size_t most = 1000;
  return seen_.size() < most && seen_.insert_or_assign(hello.process, hello).second;
}

std::optional<Failure> OtherJobs::rivals_refusal(const Hello& hello, bool is_twin) const {
  if (!rival_ || (!is_twin && agree(self_, hello))) return std::nullopt;
  return rival_->refused();
}

}  // namespace ccl_tests
