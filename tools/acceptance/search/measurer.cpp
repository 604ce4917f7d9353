#include "tools/acceptance/search/measurer.hpp"

#include <cmath>

namespace ccl_tests::acceptance {
namespace {

bool measured(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

std::optional<double> value_of(const Transfer& transfer, Statistic statistic) {
  if (statistic == Statistic::time)
    return measured(transfer.seconds) ? std::optional(std::log(transfer.seconds)) : std::nullopt;
  if (!measured(transfer.p50) || !measured(transfer.p95)) return std::nullopt;
  return std::log(transfer.p95 / transfer.p50);
}

std::vector<Observation> observations(std::span<const MeasuredRound> rounds, Statistic statistic,
                                      std::size_t rounds_per_group) {
  std::vector<Observation> seen;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t group = round / rounds_per_group;
    for (const PairTimes& pair : rounds[round].times) {
      const auto [a, b] = pair.hosts;
      if (const auto there = value_of(pair.forward, statistic))
        seen.push_back({a, b, group, *there});
      if (const auto back = value_of(pair.backward, statistic))
        seen.push_back({b, a, group, *back});
    }
  }
  return seen;
}

std::vector<PairTimes> WatchedMeasurer::measure(const Round& round) {
  ++rounds_;
  std::vector<PairTimes> times = inner_.measure(round);
  for (const HostPair& pair : round)
    for (const int host : {pair.a, pair.b}) ++missed_[static_cast<std::size_t>(host)];
  for (const PairTimes& pair : times) {
    if (!value_of(pair.forward, Statistic::time) && !value_of(pair.backward, Statistic::time))
      continue;
    for (const int host : {pair.hosts.a, pair.hosts.b}) missed_[static_cast<std::size_t>(host)] = 0;
  }
  return times;
}

bool WatchedMeasurer::enlarge() {
  if (!inner_.enlarge()) return false;
  rounds_ = 0;
  return true;
}

}  // namespace ccl_tests::acceptance
