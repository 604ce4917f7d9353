// Ranks as threads: they share their process's connection to the control plane.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/deadline.hpp"
#include "src/core/control_channel.hpp"

namespace ccl_tests {

// Exchanges of the ranks of one group that are threads of this process, among themselves and with the
// group's other processes.

// A rank of a group: where it runs, and its number in the whole job.
struct Seat {
  int process = 0;
  int world_rank = 0;
};

class ThreadExchange {
 public:
  // seats: of the group's ranks, in rank order. `team` has all processes of these.
  ThreadExchange(Control& control, Team team, std::vector<Seat> seats);

  const std::vector<Seat>& seats() const { return seats_; }
  const std::string& name() const { return team_.name; }
  Control& control() const { return control_; }

  // As the calls of ControlChannel, by the thread of `rank`; broadcast gives one text. The last
  // thread of this process to come calls the other processes. Of a gather that is the thread of
  // rank 0, if this process has it.
  std::vector<std::string> exchange(ExchangeKind kind, int rank, std::string_view bytes,
                                    double limit_s);

  // Every exchange fails from now on; thread-safe.
  void fail(const Failure& why);

 private:
  struct Turn;

  std::shared_ptr<Turn> join(ExchangeKind kind, int rank, std::string_view bytes);
  bool calls_processes(const Turn& turn, int rank) const;
  void wait_for_threads(std::unique_lock<std::mutex>& lock, const Turn& turn, TimePoint deadline);
  std::vector<std::string> between_processes(const Turn& complete, double limit_s);
  std::vector<std::string> unpack_all(const std::vector<std::string>& processes) const;
  std::string missing(const Turn& incomplete) const;

  Control& control_;
  Team team_;
  std::vector<Seat> seats_;
  std::vector<int> local_;     // ranks whose seat is in this process, ascending by world rank
  std::vector<int> in_order_;  // ranks in the order in which the processes' bytes come
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Turn>> open_;  // that some thread has not come to, oldest first
  std::uint64_t first_ = 0;                 // the number of open_.front()
  std::vector<std::uint64_t> next_;         // of each of local_: the number of its next exchange
  std::optional<Failure> failure_;
};

// One ControlChannel per rank of this process; `control` must outlive them and their groups. Rank =
// process * threads + thread. Each object is used by one thread. abort makes waiting exchanges of this process throw
// Error; it also ends the job through `control` (code 4, unless control.abort was called before
// with a more telling one).
class ThreadRanks {
 public:
  ThreadRanks(Control& control, int threads);
  ~ThreadRanks();
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;
  ControlChannel& rank(int thread);
  void abort(const std::string& why) noexcept;

 private:
  class ThreadExchanges;
  class Rank;
  Control& control_;
  std::shared_ptr<ThreadExchanges> exchanges_;
  std::shared_ptr<ThreadExchange> world_;
  std::vector<std::unique_ptr<ControlChannel>> ranks_;
};

}  // namespace ccl_tests
