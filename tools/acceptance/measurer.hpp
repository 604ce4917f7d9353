// What the search for bad hosts needs of the world: measured rounds.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/schedule.hpp"

namespace ccl_tests::acceptance {

// What was measured of operations from one host to another. A value that is not a positive finite
// number is missing.
struct Transfer {
  double seconds = 0;          // of one operation, by the statistic of the measurement
  double p50 = 0, p95 = 0;     // seconds; percentiles of the same operations
  std::size_t operations = 0;  // that p50 and p95 are made of
};

struct PairTimes {
  HostPair hosts;
  Transfer forward;   // from hosts.a to hosts.b
  Transfer backward;  // from hosts.b to hosts.a
  double began = 0;   // seconds, on any clock that all rounds share
};

// Measures rounds, one after the other.
class PairMeasurer {
 public:
  virtual ~PairMeasurer() = default;
  // Returns the times of the pairs of `round`. A pair whose host died is left out.
  virtual std::vector<PairTimes> measure(const Round& round) = 0;
  // Makes operations longer, if noise or a buffer on the way hides what is looked for. Rounds before and after it
  // are not comparable. Returns false if they are as long as they may be.
  virtual bool enlarge() { return false; }
};

// A round as it was planned, and what came of it.
struct MeasuredRound {
  Round planned;
  std::vector<PairTimes> times;
};

}  // namespace ccl_tests::acceptance
