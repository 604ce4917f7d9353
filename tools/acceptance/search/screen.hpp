// The constants of the search for bad hosts, and which hosts stand out of the first rounds: suspects, not yet names.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "src/measure/effects.hpp"

namespace ccl_tests::acceptance {

// The engine's numbers are the same everywhere; those of std's distributions and std::shuffle are not.
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

// Returns 0, 1, ... n - 1.
std::vector<int> first_numbers(std::size_t n);

// Two hosts that send to each other: first a to b, then b to a.
struct HostPair {
  int a = 0, b = 0;
};

// Pairs that measure at the same time. A host is in at most one pair of a round.
using Round = std::vector<HostPair>;

// Returns the rounds of a full tournament of 0 to hosts - 1 by the circle method: `hosts` - 1 rounds, in which each
// pair occurs once. An odd number of hosts has one more, with another idle host each. None of less than two hosts.
std::vector<Round> circle(int hosts);

// An endless series of rounds: full tournaments, with hosts relabelled at random and rounds in random order.
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

// Rounds in which each suspect meets a good host, another one each time until all had their turn, and the other good
// hosts meet at random. Good hosts are all that are not suspects: the fastest ones would make biased controls.
class PartnerRounds {
 public:
  PartnerRounds(std::vector<int> good, Random& random);
  // Returns a round whose first pairs are those of `suspects`, who take turns if they are more than the good hosts.
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

// Rounds whose pairs lie between racks. Each rack meets one other at a time; of an odd number one is idle.
class InterRackRounds {
 public:
  InterRackRounds(Racks racks, Random& random);
  // Returns an empty round if there are less than two racks.
  Round next();

 private:
  Racks racks_;
  Random& random_;
  Tournaments matchings_;
};

// The times of operations from one host to another. A value that is not a positive finite number is missing.
struct Transfer {
  double seconds = 0;          // of one operation, by the statistic of the measurement
  double p50 = 0, p95 = 0;     // seconds; percentiles of the same operations
  std::size_t operations = 0;  // that p50 and p95 are made of
};

struct PairTimes {
  HostPair hosts;
  Transfer forward;   // from hosts.a to hosts.b
  Transfer backward;  // from hosts.b to hosts.a
};

// Measures rounds, one after the other.
class PairMeasurer {
 public:
  virtual ~PairMeasurer() = default;
  // Returns the times of the pairs of `round`. A pair whose host died is left out.
  virtual std::vector<PairTimes> measure(const Round& round) = 0;
  // Makes operations longer; rounds before and after are not comparable. Returns false if they are as long as may be.
  virtual bool enlarge() { return false; }
};

// A host is compared by its time, or by the tail of its operations.
enum class Statistic { time, tail };

// Returns ln(seconds), or ln(p95 / p50) of the tail. Returns nullopt if a value is missing.
std::optional<double> value_of(const Transfer& transfer, Statistic statistic);

// Returns what `rounds` show of `statistic`. `rounds_per_group` rounds in a row are one group.
std::vector<Observation> observations(const std::vector<std::vector<PairTimes>>& rounds,
                                      Statistic statistic, std::size_t rounds_per_group = 1);

// Forwards to another measurer. Counts rounds, and notes which hosts no longer answer.
class TrackingMeasurer : public PairMeasurer {
 public:
  // `hosts`: one more than the largest number of a host.
  TrackingMeasurer(PairMeasurer& inner, std::size_t hosts) : inner_(inner), missed_(hosts) {}
  std::vector<PairTimes> measure(const Round& round) override;
  bool enlarge() override;

  // Returns the number of rounds since the last enlarge().
  std::size_t rounds() const { return rounds_; }
  // Returns whether the host's last three pairs are missing. A well host may meet a dead one twice in a row.
  bool gone(int host) const { return missed_[static_cast<std::size_t>(host)] >= 3; }

 private:
  PairMeasurer& inner_;
  std::size_t rounds_ = 0;
  std::vector<int> missed_;  // in a row, by number of the host
};

// Effects are natural logarithms: a host that is slow by the fraction f has -ln(1 - f).

// The effect worth naming where 10 % has to be found, about half of that; more in proportion where more has to be.
inline constexpr double usual_smallest = 0.05;
inline constexpr double least_sigma = 0.005;  // that machines without noise may differ by
inline constexpr std::size_t fewest_rounds = 8, most_rounds = 64;         // of the screen
inline constexpr std::array<std::size_t, 3> confirm_looks = {8, 16, 32};  // rounds

inline constexpr std::size_t small_launch = 16;       // fewer hosts than this are few
inline constexpr std::size_t fewest_named = 4;        // hosts below which no host is named
inline constexpr std::size_t fewest_for_links = 6;    // hosts below which no link is named
inline constexpr std::size_t fewest_for_uplinks = 4;  // racks below which no uplink is named
inline constexpr std::size_t fewest_for_tails = 50;   // operations below which a p95 says nothing

// Returns how many hosts of a launch can be bad at most so that the others show it.
constexpr std::size_t most_suspects(std::size_t hosts) { return hosts < 6 ? 1 : hosts / 3; }

// A host may be slow at these. `both` is the mean of the effects of sending and receiving.
enum class Way { sending, receiving, both };
inline constexpr std::array ways = {Way::sending, Way::receiving, Way::both};

template <class T>
using PerWay = std::array<T, ways.size()>;
constexpr std::size_t index(Way way) { return static_cast<std::size_t>(way); }

// The effects of one way in units of what healthy hosts differ by.
struct Studentised {
  std::vector<double> effect;  // by number of the host; median 0; NaN of hosts not measured
  std::vector<double> z;       // effect / max(standard error, spread, floor)
  double error = 0;            // median standard error
  double spread = 0;           // 1.4826 MAD of the hosts' effects, corrected for few hosts
};

struct Screen {
  PerWay<Studentised> way;
  double sigma = 0;           // of one observation
  std::size_t hosts = 0;      // that were measured
  std::vector<int> suspects;  // ascending
  bool grouped = false;       // hosts differ by more than noise: groups, or drift
  bool someone_fast = false;  // a host is faster than the median: the median may be slow
  bool fast_pairs = false;    // some pairs are always faster than their hosts' others
  bool said_enough = false;   // false if there are too few observations for a sigma
};

// Studentises the effects of the fit of `seen` (standard error of a robust location 1.05 sigma / sqrt(n)). smallest: the
// effect worth naming.
Screen screen(std::span<const Observation> seen, const Effects& effects, double smallest);

// Returns how many rounds show hosts slow by the fraction `slowdown`: (7.5 sigma / -ln(1 - slowdown))^2, from
// fewest_rounds to most_rounds; at least 20 for fewer than 32 hosts and twice as many for fewer than 8.
std::size_t rounds_needed(double sigma, double slowdown, std::size_t hosts);

// The smallest slowdowns, as fractions, that are found in about 95 of 100 launches.
struct Detectable {
  double both_ways = 0, one_way = 0;
};
// Returns what a screen of so many rounds and its confirmations can see: the inverse of rounds_needed().
Detectable detectable(double sigma, std::size_t rounds, std::size_t hosts, double smallest);

}  // namespace ccl_tests::acceptance
