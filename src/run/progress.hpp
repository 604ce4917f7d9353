// What the run is doing now, for the heartbeat, the terminal's status line and the message about a
// hang.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace ccl_tests {

// Written by rank threads, read by the heartbeat. Thread-safe.
class Progress {
 public:
  void phase(std::string what);  // before the first row: "connecting the library under test"
  void row(std::string what);    // "all_reduce float sum, 8388608 B, in place, timed calls"
  std::string text() const;      // what was said last
  double seconds_in_row() const;

 private:
  mutable std::mutex mutex_;
  std::string row_, phase_ = "starting";
  double since_ = 0;
};

// Tells what runs: on a terminal by a status line that is wiped before it is replaced, otherwise by
// a line every 10 s into `path` or stderr. Only one process of a job has one.
class Heartbeat {
 public:
  Heartbeat(const Progress& progress, const std::string& program, const std::string& path);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Wipes the status line, so that a row can be printed.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ccl_tests
