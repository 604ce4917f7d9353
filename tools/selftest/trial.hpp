// One rank's part of a self-test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/inject/fault.hpp"
#include "src/job/rank.hpp"
#include "tools/selftest/arguments.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::selftest {

// The outcome of spoiled results, by kind of fault.
struct FaultTally {
  std::uint64_t injected = 0;             // rows with a spoiled call
  std::uint64_t caught = 0;               // of them, those that failed
  std::uint64_t nameable = 0, named = 0;  // of those, what verification has words for, and said
  std::uint64_t within_bound = 0;         // of the others, those that so many ranks may give
  std::uint64_t harmless = 0;             // rows whose bytes the fault leaves as they are
};

struct Tallies {
  std::string library;  // what it makes, and what is composed or missing
  std::map<FaultKind, FaultTally> faults;
  std::uint64_t plain_rows = 0, wrong_cells = 0;  // of rows without a fault, and of their cells
  std::uint64_t plain_calls = 0, verified_calls = 0;
  std::vector<std::string> missed, wrong;        // one line each, the first ones
  std::map<std::string, std::uint64_t> reasons;  // why faults were harmless, and how often

  bool passed() const;
};

// Returns the table and the verdict.
std::string text_of(const Tallies& tallies);

// Runs every program without and with faults, and adds what came of it on rank 0. Returns the exit
// code. Collective. Throws what the library, a peer or a limit throws.
int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns, Tallies& tallies);

}  // namespace ccl_tests::selftest
