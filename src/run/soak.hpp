// Cycles until a time is over: --duration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/job/rank.hpp"
#include "src/record/record.hpp"
#include "src/report/run_results.hpp"

namespace ccl_tests {

// Of one rank. Every function is collective over all ranks and throws what an exchange throws.
class SoakClock {
 public:
  // duration_s: 0: there is none, and nothing is done. Begins now.
  SoakClock(Rank& rank, double duration_s, RunResults& results);

  // Returns true when the time is over, by rank 0's clock. On rank 0 says once a minute how far it is, and what came of it
  // so far. Collective.
  bool is_over();
  // A cycle is complete: memory grows until the first one is.
  void end_cycle();
  // Returns what came of it on rank 0; elsewhere, and without a duration, nothing.
  std::optional<Soak> found();

 private:
  double elapsed_s() const;
  void say_progress();

  Rank& rank_;
  double duration_s_;
  RunResults& results_;
  double start_s_, next_s_;
  std::size_t cycles_ = 0;
  std::size_t first_bytes_ = 0;  // of this process, after the first cycle
  std::optional<Soak> so_far_;   // on rank 0
};

}  // namespace ccl_tests
