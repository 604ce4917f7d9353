// What the search for bad hosts needs of the world: measured rounds, what they show of the hosts, and which hosts no
// longer answer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/measure/effects.hpp"
#include "tools/acceptance/search/schedule.hpp"

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

// What a host is compared by: its time, or the tail of its operations.
enum class Statistic { time, tail };

// Returns ln(seconds), or ln(p95 / p50) of the tail. Returns nullopt if a value is missing.
std::optional<double> value_of(const Transfer& transfer, Statistic statistic);

// Returns what `rounds` show of `statistic`. `rounds_per_group` rounds in a row are one group.
std::vector<Observation> observations(std::span<const MeasuredRound> rounds, Statistic statistic,
                                      std::size_t rounds_per_group = 1);

// Forwards to another measurer. Counts rounds, and notes which hosts no longer answer.
class WatchedMeasurer : public PairMeasurer {
 public:
  // `hosts`: one more than the largest number of a host.
  WatchedMeasurer(PairMeasurer& inner, std::size_t hosts) : inner_(inner), missed_(hosts) {}
  std::vector<PairTimes> measure(const Round& round) override;
  bool enlarge() override;

  // Returns the number of rounds since the last enlarge().
  std::size_t rounds() const { return rounds_; }
  // Returns whether the host's last three pairs are missing. A host that is well may meet a dead one
  // twice in a row.
  bool gone(int host) const { return missed_[static_cast<std::size_t>(host)] >= 3; }

 private:
  PairMeasurer& inner_;
  std::size_t rounds_ = 0;
  std::vector<int> missed_;  // in a row, by number of the host
};

}  // namespace ccl_tests::acceptance
