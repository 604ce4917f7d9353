#include "tools/acceptance/watched.hpp"

#include "tools/acceptance/effects.hpp"

namespace ccl_tests::acceptance {

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
