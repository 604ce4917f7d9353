// Launches as machines make them, from a seed: for tests of the search for bad hosts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/acceptance/search/confirm.hpp"

namespace ccl_tests::acceptance::test {

// Above 0, at most 1.
inline double uniform(Random& random) {
  return (static_cast<double>(random() >> 11) + 1) * 0x1p-53;
}
// Box and Muller's.
inline double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(uniform(random)));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform(random));
}

// Effects are natural logarithms of times.
inline double slow(double fraction) { return -std::log1p(-fraction); }

// What a launch adds to the logarithm of each time.
class NoiseSource {
 public:
  virtual ~NoiseSource() = default;
  // Called before each round: `rounds` have passed since the last one.
  virtual void next_round(double rounds, Random& random) = 0;
  // `sending`, `receiving`: effects of faults. A pair runs at the slower of its ends.
  virtual double of(int from, int to, double sending, double receiving, Random& random) = 0;
};

struct NoiseShape {
  std::string name;
  double deviation = 0;
  double outlier_share = 0, outlier_mean = 0;  // of times 1 + Exp(outlier_mean)
  bool student = false;                        // Student's t with 5 degrees of freedom
  double buffered_share = 0, buffered = 0;     // of times shorter by this effect
  double round_shift = 0;                      // standard deviation of what a round shares
  double host_spread = 0;                      // standard deviation between healthy hosts
  double drift = 0, drift_rounds = 10;         // of each host, correlated over so many rounds
};
inline NoiseShape quiet() { return {.name = "none"}; }
inline NoiseShape noise_a() { return {.name = "a", .deviation = 0.015, .host_spread = 0.005}; }
inline NoiseShape noise_b() {
  return {.name = "b",
          .deviation = 0.05,
          .outlier_share = 0.02,
          .outlier_mean = 0.3,
          .host_spread = 0.01};
}
inline NoiseShape noise_c() {
  return {
      .name = "c", .deviation = 0.087, .student = true, .round_shift = 0.1, .host_spread = 0.01};
}
inline NoiseShape noise_d() {
  NoiseShape shape = noise_b();
  shape.name = "d";
  shape.drift = 0.03;
  return shape;
}

// Noise from a shape.
class ShapedNoise : public NoiseSource {
 public:
  ShapedNoise(const NoiseShape& shape, std::size_t hosts, Random& random)
      : shape_(shape), spread_(hosts), drift_(hosts) {
    for (double& host : spread_) host = shape_.host_spread * normal(random);
    if (shape_.drift > 0)
      for (double& host : drift_) host = shape_.drift * normal(random);
  }
  void next_round(double rounds, Random& random) override {
    shift_ = shape_.round_shift > 0 ? shape_.round_shift * normal(random) : 0;
    if (shape_.drift <= 0) return;
    const double kept = std::exp(-rounds / shape_.drift_rounds);
    for (double& host : drift_)
      host = kept * host + std::sqrt(1 - kept * kept) * shape_.drift * normal(random);
  }
  double of(int from, int to, double sending, double receiving, Random& random) override {
    const auto end = [&](int host) {
      return spread_[static_cast<std::size_t>(host)] + drift_[static_cast<std::size_t>(host)];
    };
    double value = std::max(end(from) + sending, end(to) + receiving) + shift_;
    if (shape_.deviation > 0)
      value += shape_.deviation * (shape_.student ? t5(random) : normal(random));
    if (shape_.buffered_share > 0 && uniform(random) <= shape_.buffered_share)
      value -= shape_.buffered;
    if (shape_.outlier_share > 0 && uniform(random) <= shape_.outlier_share)
      value += std::log(1 - shape_.outlier_mean * std::log(uniform(random)));
    return value;
  }

 private:
  // With standard deviation 1: that of Student's t is sqrt(5 / 3).
  static double t5(Random& random) {
    double squares = 0;
    for (int i = 0; i < 5; ++i) {
      const double value = normal(random);
      squares += value * value;
    }
    return normal(random) / std::sqrt(squares / 5) * std::sqrt(3.0 / 5);
  }

  NoiseShape shape_;
  std::vector<double> spread_, drift_;
  double shift_ = 0;
};

// A host that is slow by so much, when and how often.
struct BadHost {
  int host = 0;
  double sending = 0, receiving = 0;  // effects
  std::size_t until = SIZE_MAX;       // round from which the host is well
};
struct BadLink {
  int a = 0, b = 0;
  double there = 0, back = 0;  // effects from a to b, and from b to a
};

// A simulated launch.
class Fabric : public PairMeasurer {
 public:
  Fabric(NoiseSource& noise, Random& random) : noise_(noise), random_(random) {}

  std::vector<BadHost> bad_hosts;
  std::vector<BadLink> bad_links;
  std::set<int> dead;  // from `dies` on
  std::size_t dies = SIZE_MAX;
  double seconds = 0.001;  // of a healthy transfer
  double apart = 1;        // rounds of time that pass from one round to the next
  std::function<double(const Round&, int from, int to)> contention;  // effect; may be null
  // Time over single operations; 0: no p50 and p95. A tenth of the operations that `rare` sends or
  // receives are slow by `rare_effect`.
  std::size_t operations = 0;
  double operation_deviation = 0.02;
  std::optional<int> rare;
  double rare_effect = 0;

  std::vector<PairTimes> measure(const Round& round) override {
    noise_.next_round(apart + pause_, random_);
    pause_ = 0;
    std::vector<PairTimes> times;
    for (const HostPair& pair : round) {
      const bool lost = rounds_ >= dies && (dead.contains(pair.a) || dead.contains(pair.b));
      if (lost) continue;
      times.push_back({pair, transfer(round, pair.a, pair.b), transfer(round, pair.b, pair.a)});
    }
    ++rounds_;
    planned_.push_back(round);
    return times;
  }
  void pass_time(double rounds) { pause_ += rounds; }
  const std::vector<Round>& planned() const { return planned_; }

 private:
  Transfer transfer(const Round& round, int from, int to) {
    double sending = 0, receiving = 0;
    for (const BadHost& bad : bad_hosts) {
      if (rounds_ >= bad.until) continue;
      if (bad.host == from) sending = bad.sending;
      if (bad.host == to) receiving = bad.receiving;
    }
    double value = 0;  // of what lies between the hosts
    for (const BadLink& bad : bad_links) {
      if (bad.a == from && bad.b == to) value = bad.there;
      if (bad.b == from && bad.a == to) value = bad.back;
    }
    if (contention) value = std::max(value, contention(round, from, to));
    // The slowest part of the way counts.
    value = std::max(0.0, value - std::max(sending, receiving));
    value += noise_.of(from, to, sending, receiving, random_);
    Transfer one;
    one.seconds = seconds * std::exp(value);
    if (operations > 0) add_operations(one, rare && (*rare == from || *rare == to));
    return one;
  }
  void add_operations(Transfer& one, bool slow_at_times) {
    std::vector<double> all;
    for (std::size_t i = 0; i < operations; ++i) {
      double value = operation_deviation * normal(random_);
      if (slow_at_times && uniform(random_) <= 0.1) value += rare_effect;
      all.push_back(one.seconds * std::exp(value));
    }
    std::sort(all.begin(), all.end());
    const auto n = static_cast<double>(operations);
    one.p50 = all[operations / 2];
    one.p95 = all[static_cast<std::size_t>(std::ceil(0.95 * n)) - 1];
    one.seconds = one.p50;
    one.operations = operations;
  }

  NoiseSource& noise_;
  Random& random_;
  std::size_t rounds_ = 0;
  double pause_ = 0;
  std::vector<Round> planned_;
};

inline std::vector<int> first_hosts(int n) {
  std::vector<int> hosts(static_cast<std::size_t>(n));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

// A launch to be: what is wrong with it, and what is asked.
struct Launch {
  NoiseShape noise;
  int hosts = 0;
  std::function<void(Fabric&)> prepare;  // may be null
  SearchPlan plan;
  double later = 0;  // rounds of time between the confirmations

  Findings run(std::uint64_t seed) const {
    Random random(seed * 2 + 1);
    ShapedNoise source(noise, static_cast<std::size_t>(hosts), random);
    Fabric fabric(source, random);
    if (prepare) prepare(fabric);
    SearchPlan own = plan;
    own.seed = seed;
    if (later > 0) own.later = [&] { fabric.pass_time(later); };
    return find_bad_hosts(fabric, hosts, own);
  }
};

inline std::vector<int> hosts_with(const Findings& findings, HostVerdict verdict) {
  std::vector<int> hosts;
  for (const HostFinding& one : findings.hosts)
    if (one.verdict == verdict) hosts.push_back(one.host);
  return hosts;
}
inline std::vector<int> named(const Findings& findings) {
  return hosts_with(findings, HostVerdict::blamed);
}
inline bool names_any(const Findings& findings) {
  return !findings.links.empty() || !findings.uplinks.empty() || !named(findings).empty();
}
inline bool says(const Findings& findings, Reason reason) {
  return std::find(findings.reasons.begin(), findings.reasons.end(), reason) !=
         findings.reasons.end();
}

}  // namespace ccl_tests::acceptance::test
