#include "src/job/cpu_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/devices/host_cpus.hpp"

namespace ccl_tests {
namespace {

struct Machine {
  std::string host;
  int ranks = 0;
  std::set<int> cpus;                    // of all its ranks
  std::map<std::string, double> quotas;  // by place: ranks of one container share it
  bool limited = true;                   // every place has a quota

  void add(const RankIdentity& rank) {
    if (ranks++ == 0) host = rank.host;
    cpus.merge(cpus_in(rank.cpus));
    if (rank.cpu_quota <= 0) limited = false;
    quotas[rank.place()] = rank.cpu_quota;
  }
  double cpus_there() const {
    double quota = 0;
    for (const auto& [place, q] : quotas) quota += q;
    const auto allowed = static_cast<double>(cpus.size());
    return limited ? std::min(quota, allowed) : allowed;
  }
};

}  // namespace

double own_cpus() {
  const auto allowed = static_cast<double>(cpus_in(allowed_cpus()).size());
  const double quota = cpu_quota();
  return quota > 0 ? std::min(quota, allowed) : allowed;
}

int default_threads(double cpus, const Backend& backend) {
  const int each = std::max(1, backend.info().threads_per_rank);
  return std::clamp(static_cast<int>(cpus / each), 2, 4);
}

std::string cpu_shortage(const std::vector<RankIdentity>& ranks, const Backend& backend) {
  if (ranks.size() == 1) return {};
  const int threads = backend.info().threads_per_rank;
  std::map<std::string, Machine> machines;
  for (const RankIdentity& rank : ranks) machines[rank.machine].add(rank);
  const Machine* worst = nullptr;
  double share = threads;  // CPUs for each rank
  int short_of = 0;
  for (const auto& [id, machine] : machines) {
    const double here = machine.cpus_there() / machine.ranks;
    if (machine.cpus.empty() || here >= threads) continue;
    ++short_of;
    if (here >= share) continue;
    share = here;
    worst = &machine;
  }
  if (worst == nullptr) return {};
  const std::string each =
      threads > 1 ? fmt::format(" x {} threads of {}", threads, backend.name()) : "";
  const std::string others =
      short_of > 1 ? fmt::format(" (and on {} more host{})", short_of - 1, short_of == 2 ? "" : "s")
                   : "";
  return fmt::format(
      "{:.3g} CPUs for {} busy threads ({} rank{}{}) on {}{}: times include waiting "
      "for a CPU",
      worst->cpus_there(), worst->ranks * threads, worst->ranks, worst->ranks == 1 ? "" : "s", each,
      worst->host, others);
}

}  // namespace ccl_tests
