// The processes of a job that the control server knows, and those of other jobs that come to its
// port. Only for .cpp files: includes Asio.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/bootstrap/acceptor.hpp"

namespace ccl_tests {

// The number of processes that are there, which the server's thread notes and other threads wait
// for. Thread-safe.
class Attendance {
 public:
  explicit Attendance(int processes) : processes_(processes) {}

  void add_arrival() { add(came_, 1); }  // of a process that has said who it is, wanted or not
  void enter() {                         // a member, or a process that differs
    add(here_, 1);
    add(unreported_, 1);
  }
  void leave(Peer& peer);
  void report(Peer& peer);  // it has said all about a failure, or nothing is expected of it
  void add_address(int process, const std::string& local_address);

  // Waits at most limit_s until as many processes as the job should have came, wanted or not: after
  // a failure, so that those who are still on their way learn of it.
  void wait_all_came(double limit_s) {
    wait(limit_s, [this] { return came_ >= processes_; });
  }
  // Waits at most limit_s until every process has written what it has to say about a failure, was
  // silent when that came, has left or is gone. Returns false if some have not.
  bool wait_all_reported(double limit_s) {
    return wait(limit_s, [this] { return unreported_ == 0; });
  }
  // Waits at most limit_s until every process has left or is gone.
  void wait_all_left(double limit_s) {
    wait(limit_s, [this] { return here_ == 0; });
  }
  std::vector<std::string> local_addresses();  // as ControlChannel's, in the order of processes

 private:
  void add(int& count, int change);
  bool wait(double limit_s, const std::function<bool()>& until);

  int processes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;                                // have neither left nor gone
  int unreported_ = 0;                          // those of them that have not reported
  int came_ = 0;                                // have said who they are
  std::map<int, std::string> local_addresses_;  // by process
};

class Members {
 public:
  explicit Members(const Hello& self)
      : ranks_per_process_(self.ranks_per_process),
        by_process_(static_cast<std::size_t>(self.processes)) {}

  // Returns null until the process has joined.
  Peer* of(int process) const { return by_process_.at(static_cast<std::size_t>(process)); }
  const std::vector<Peer*>& all() const { return by_process_; }
  std::size_t admitted() const { return admitted_; }
  bool complete() const { return admitted_ == by_process_.size(); }
  void add(int process, Peer* peer) {
    by_process_.at(static_cast<std::size_t>(process)) = peer;
    ++admitted_;
  }

  // Sends to all who are here, those that differ too, but not to `except`.
  void send_to_all(std::string bytes, const Peer* except) const;

  // Returns the processes that have not come, ascending.
  std::vector<int> missing() const;
  std::vector<std::string> missing_ranks() const;  // their names

  // Return ranks and names of processes that have joined.
  std::vector<int> rank_numbers(const std::vector<int>& processes) const;
  std::vector<std::string> names(const std::vector<int>& processes) const;

  // Return lines for users. others: who came as well, and did not stay.
  std::string missing(double limit_s) const;
  std::string disagreement(const std::map<int, Hello>& others) const;

  // Returns the processes without a sign of life for so many heartbeats or more: they or their
  // machines are stopped.
  std::vector<int> silent(int heartbeats) const;
  // Returns the same if ranks of others wait inside the library, otherwise none.
  std::vector<int> awaited_in_calls(int heartbeats) const;
  // Adds what all ranks did when they were last heard of, and who is late by it.
  void add_statuses(Failure& failure) const;

  std::vector<Peer*> differing;  // came, but were started differently; in order of coming

 private:
  int ranks_per_process_;
  std::vector<Peer*> by_process_;
  std::size_t admitted_ = 0;
};

class OtherJobs {
 public:
  // may_come: without it all who come are of this job. See ControlServerOptions for patience_s.
  OtherJobs(const Hello& self, bool may_come, double patience_s)
      : self_(self), may_come_(may_come), patience_s_(patience_s) {}

  // Returns whether a process with other settings is of another job. Returns false, since it was
  // started with wrong flags, if only such processes have been `missing` for the time of patience.
  bool include(const Hello& hello, const std::vector<int>& missing);

  // Returns true once for each number that a process of other settings has.
  bool is_new(const Hello& hello);

  std::optional<Hello> rival;  // a process 0 that cannot listen where this job's does
  std::map<int, Hello> seen;   // processes of other settings, by number

 private:
  Hello self_;
  bool may_come_;
  double patience_s_;
  std::optional<TimePoint> only_they_miss_;  // since when nobody but these is missing
};

}  // namespace ccl_tests
