// Runs base and head in turns: a screen over all rows, then a test of the flagged ones with fresh
// pairs. Starts no process and reads no clock: runs and probes are functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/compare/pairs.hpp"

namespace ccl_tests::compare {

enum class Side { base, head };

struct Plan {
  double threshold = 0.05;
  bool any_arithmetic = false;  // rows that the suite reduced may be beside the library's
  std::size_t screen_pairs = 2;
  std::size_t pairs = 12;  // of the test; more if so few cannot confirm anything
  // As long as a row is undecided and none slower, the pairs are doubled up to this; 0: never.
  std::size_t most_pairs = 0;
  double time_budget_s = 0;  // after which the test starts no further pair; 0: as long as it takes
  double probe_limit = 1.5;  // a pair whose probes differ more is drawn again; 0: no probes
  std::size_t tries_each = 3;  // most draws for each pair that is wanted
};

struct Machine {
  // Runs one side. sizes: those that are needed; empty: all.
  std::function<RunTimes(Side, const std::set<std::size_t>& sizes)> run;
  std::function<std::optional<double>()> probe;  // seconds of a round trip between cores
  // Returns true if the time budget is used up: the test starts no further pair. Empty: it never is.
  std::function<bool()> out_of_time = {};
  // Hears of each pair that ended: "screen" or "test", its number, how many there will be.
  std::function<void(const char* part, std::size_t done, std::size_t wanted)> progress;
};

struct Comparison {
  std::vector<RowResult> rows;  // in the order of their keys
  std::size_t screened_pairs = 0, tested_pairs = 0, redrawn = 0;
  std::size_t looks = 1;  // at the tested rows, at most; each may use its part of the false alarms
  std::size_t flagged = 0, only_base = 0, only_head = 0;
  std::optional<Interval> probes;  // smallest and largest, seconds
  std::vector<std::string> notes;
};

// The pairs alternate in order (ABBA). Throws Error (inconclusive) if the probe was never steady.
Comparison compare_interleaved(const Machine& machine, const Plan& plan);

}  // namespace ccl_tests::compare
