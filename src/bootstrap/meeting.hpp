// Where the ranks of one group that are threads of this process meet, to exchange with the group's
// other processes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/control.hpp"

namespace ccl_tests {

// A rank of a group: where it runs, and its number in the whole job.
struct Seat {
  int process = 0;
  int world_rank = 0;
};

class Meeting {
 public:
  // seats: of the group's ranks, in rank order. `team` has all processes of these.
  Meeting(Control& control, Team team, std::vector<Seat> seats);

  const std::vector<Seat>& seats() const { return seats_; }
  const std::string& name() const { return team_.name; }
  Control& control() const { return control_; }

  // By rank's thread; see ControlChannel::exchange. The last thread to come speaks for all.
  std::vector<std::string> all_gather(int rank, std::string_view bytes, double limit_s);

  // Every exchange fails from now on; thread-safe.
  void fail(const Failure& why);

 private:
  struct Gathering;

  void renew();
  std::vector<std::string> between_processes(const Gathering& complete, double limit_s);
  std::string missing(const Gathering& incomplete) const;

  Control& control_;
  Team team_;
  std::vector<Seat> seats_;
  std::vector<int> local_;     // ranks whose seat is in this process, ascending by world rank
  std::vector<int> in_order_;  // ranks in the order in which the processes' bytes come
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Gathering> gathering_;  // the one that threads join now
  std::optional<Failure> failure_;
};

}  // namespace ccl_tests
