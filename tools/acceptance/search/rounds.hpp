// Rounds of pairs of hosts: which are measured, what was measured of them, and which hosts no longer answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "src/measure/effects.hpp"

namespace ccl_tests::acceptance {

// The engine's numbers are the same everywhere; those of std's distributions and std::shuffle are
// not, and every rank has to find the same schedule.
using Random = std::mt19937_64;

// Returns a number from 0 to n - 1, each with the same probability. `n` must not be 0.
std::size_t below(Random& random, std::size_t n);

// Puts `values` in random order (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[below(random, i)]);
}

bool contains(const std::vector<int>& hosts, int host);

// Two hosts that send to each other: first a to b, then b to a.
struct HostPair {
  int a = 0, b = 0;
};

// Pairs that measure at the same time. A host is in at most one pair of a round.
using Round = std::vector<HostPair>;

// Returns the rounds of a full tournament by the circle method: `hosts` - 1 rounds of hosts / 2
// pairs of 0 to hosts - 1, in which each pair occurs once. An odd number of hosts has `hosts`
// rounds, in each of which another host is idle. Returns no rounds of less than two hosts.
std::vector<Round> circle(int hosts);

// An endless series of rounds: full tournaments one after the other, in each of which hosts are
// relabelled at random and rounds are in random order.
class Tournaments {
 public:
  Tournaments(std::vector<int> hosts, Random& random);
  // Returns an empty round if there are less than two hosts.
  Round next();

 private:
  std::vector<int> hosts_;
  Random& random_;
  std::vector<Round> left_;
};

// Rounds in which each suspect meets a good host, another one each time until all had their turn,
// and the other good hosts meet each other at random. Good hosts are those that are no suspects,
// never the fastest ones only: those would make biased controls.
class PartnerRounds {
 public:
  PartnerRounds(std::vector<int> good, Random& random);
  // Returns a round whose first pairs are those of `suspects`, which are still to be measured.
  // Suspects take turns if there are more of them than good hosts.
  Round next(const std::vector<int>& suspects);

 private:
  std::vector<int> good_;
  Random& random_;
  std::size_t turn_ = 0;
};

// The hosts of each rack.
using Racks = std::vector<std::vector<int>>;

// Rounds whose pairs lie inside racks. Each rack plays its own tournaments.
class IntraRackRounds {
 public:
  IntraRackRounds(const Racks& racks, Random& random);
  Round next();

 private:
  std::vector<Tournaments> racks_;
};

// Rounds whose pairs lie between racks. Each rack meets exactly one other rack at a time, with
// 1 / `oversubscription` of its hosts at a time, so that no uplink carries more than it can. An
// odd number of racks leaves one idle.
class InterRackRounds {
 public:
  // Throws UsageError if `oversubscription` is below 1.
  InterRackRounds(Racks racks, double oversubscription, Random& random);
  // Returns an empty round if there are less than two racks.
  Round next();

 private:
  void draw();

  Racks racks_;
  std::size_t parts_;
  Random& random_;
  Tournaments matchings_;
  std::vector<Round> left_;
};

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
class TrackingMeasurer : public PairMeasurer {
 public:
  // `hosts`: one more than the largest number of a host.
  TrackingMeasurer(PairMeasurer& inner, std::size_t hosts) : inner_(inner), missed_(hosts) {}
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
