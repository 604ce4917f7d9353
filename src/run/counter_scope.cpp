#include "src/run/counter_scope.hpp"

#include <algorithm>

#include "src/devices/host_cpus.hpp"

namespace ccl_tests {

CounterScope counter_scope(const RankTable& table, int rank) {
  const RankIdentity& me = table[rank];
  const auto before = table.ranks.begin() + rank;
  CounterScope scope;
  scope.process = std::none_of(table.ranks.begin(), before, [&](const RankIdentity& r) {
    return r.place() == me.place() && r.pid == me.pid;
  });
  const auto here = [&](const RankIdentity& r) { return r.machine == me.machine; };
  if (std::any_of(table.ranks.begin(), before, here)) return scope;
  for (const RankIdentity& r : table.ranks)
    if (here(r)) scope.cpus.merge(cpus_in(r.cpus));
  return scope;
}

}  // namespace ccl_tests
