// The exchanges of all teams that are under way, as process 0 knows them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/deadline.hpp"

namespace ccl_tests {

// The exchanges of one team. Several may be under way: a process that is not the root of a gather
// goes on to the next exchange without waiting.
class TeamExchanges {
 public:
  explicit TeamExchanges(Team team);

  // The call that a process made.
  struct Made {
    int process = 0;
    ExchangeKind kind = ExchangeKind::all_gather;
  };

  // Adds what `process` contributes. Returns the call that began the same exchange if that call is
  // of another kind. Throws Error if it is not this process's turn.
  std::optional<Made> add(int process, Contribution contribution);

  const std::vector<int>& processes() const { return team_.processes; }
  int root() const { return team_.root; }

  // The oldest exchange under way.
  bool under_way() const { return !open_.empty(); }
  bool complete() const { return under_way() && open_.front().arrived == next_.size(); }
  ExchangeKind kind() const { return open_.front().began.kind; }
  Round take();  // of a complete exchange

  // The earliest deadline of the exchanges under way; TimePoint::max() if none is.
  TimePoint deadline() const;

  // Appends the processes that exchanges under way wait for.
  void append_missing(TimePoint not_later_than, std::vector<int>& processes) const;

 private:
  struct Open {
    Made began;
    std::vector<std::string> bytes;  // by position in processes()
    std::size_t arrived = 0;
    TimePoint deadline = TimePoint::max();  // of the least patient so far
  };

  Team team_;
  std::uint64_t number_ = 0;         // of open_.front()
  std::deque<Open> open_;            // the oldest first
  std::vector<std::uint64_t> next_;  // the exchange that each process contributes to next
};

class Exchanges {
 public:
  explicit Exchanges(int processes);

  struct Added {
    TeamExchanges& team;
    std::optional<TeamExchanges::Made> other;  // as TeamExchanges::add
  };
  // Throws Error if it is not this process's turn, or the contribution's team is not valid.
  Added add(int process, Contribution contribution);

  TimePoint deadline() const;

  // Returns the processes that exchanges under way whose deadline is not later wait for, ascending.
  std::vector<int> missing(TimePoint not_later_than = TimePoint::max()) const;

 private:
  int processes_;
  std::map<std::string, TeamExchanges, std::less<>> teams_;  // by name
};

}  // namespace ccl_tests
