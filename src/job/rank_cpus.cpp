#include "src/job/rank_cpus.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "src/backends/registry.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using Cores = std::vector<CpuCore>;

std::vector<Cores> nodes_of(const Cores& cores) {
  std::map<int, Cores> nodes;
  for (const CpuCore& core : cores) nodes[core.node].push_back(core);
  std::vector<Cores> all;
  for (auto& [node, its_cores] : nodes) all.push_back(std::move(its_cores));
  return all;
}

// Item number `part` of `parts` begins here, if `all` things are shared evenly.
std::size_t share(std::size_t part, std::size_t parts, std::size_t all) {
  return part * all / parts;
}

void append_shares(std::vector<std::set<int>>& plan, const Cores& cores, std::size_t ranks,
                   std::size_t threads) {
  for (std::size_t r = 0; r < ranks; ++r) {
    std::set<int>& cpus = plan.emplace_back();
    const std::size_t first = share(r, ranks, cores.size());
    for (std::size_t c = first; c < first + threads; ++c)
      cpus.insert(cores[c].cpus.begin(), cores[c].cpus.end());
  }
}

void bind_thread(const std::set<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus)
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &mask);
  const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof(mask), &mask);
  if (error != 0)
    throw Error(fmt::format("--bind: a thread cannot be bound to CPUs {}: {}", cpu_list(cpus),
                            std::strerror(error)));
}

std::vector<CpuCore> known_cores() {
  std::vector<CpuCore> cores = cpu_topology();
  if (cores.empty()) throw Error("--bind: hwloc finds none of the CPUs that the process may use");
  return cores;
}

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

std::vector<std::set<int>> bind_to_nodes(const Cores& cores, int ranks) {
  const std::vector<Cores> nodes = nodes_of(cores);
  const auto all = static_cast<std::size_t>(ranks);
  std::vector<std::set<int>> plan(all);
  for (std::size_t r = 0; r < all; ++r)
    for (const CpuCore& core : nodes[share(r, all, nodes.size())])
      plan[r].insert(core.cpus.begin(), core.cpus.end());
  return plan;
}

std::vector<std::set<int>> bind_to_cores(const Cores& cores, int ranks, int threads) {
  const auto all = static_cast<std::size_t>(ranks);
  const auto each = static_cast<std::size_t>(threads);
  if (cores.size() < all * each) return {};
  const std::vector<Cores> nodes = nodes_of(cores);
  std::vector<std::size_t> number(nodes.size());  // of ranks
  for (std::size_t r = 0; r < all; ++r) ++number[share(r, all, nodes.size())];
  bool fits = true;
  for (std::size_t n = 0; n < nodes.size(); ++n) fits = fits && number[n] * each <= nodes[n].size();
  std::vector<std::set<int>> plan;
  if (!fits) append_shares(plan, cores, all, each);
  for (std::size_t n = 0; fits && n < nodes.size(); ++n)
    append_shares(plan, nodes[n], number[n], each);
  return plan;
}

std::vector<std::set<int>> bind_where_short(const std::set<int>& cpus, int ranks, int threads) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t have = cpus.size();
  if (threads < 2 || have == 0 || have >= all * static_cast<std::size_t>(threads)) return {};
  if (have % all != 0 && all % have != 0) return {};
  const std::vector<int> listed(cpus.begin(), cpus.end());
  std::vector<std::set<int>> plan(all);
  for (std::size_t r = 0; r < all; ++r) {
    const std::size_t first = share(r, all, have);
    for (std::size_t c = first; c < std::max(first + 1, share(r + 1, all, have)); ++c)
      plan[r].insert(listed[c]);
  }
  return plan;
}

std::string bind_rank(const RankTable& table, int rank, const std::string& how, int threads) {
  const RankIdentity& me = table[rank];
  int sharing = 0;
  std::size_t mine = 0;
  for (int r = 0; r < static_cast<int>(table.ranks.size()); ++r) {
    if (table[r].machine != me.machine || table[r].cpus != me.cpus) continue;
    if (r < rank) ++mine;
    ++sharing;
  }
  const std::vector<std::set<int>> plan =
      how == "short"  ? bind_where_short(cpus_in(me.cpus), sharing, threads)
      : how == "numa" ? bind_to_nodes(known_cores(), sharing)
                      : bind_to_cores(known_cores(), sharing, threads);
  if (plan.empty()) return {};
  bind_thread(plan[mine]);
  return cpu_list(plan[mine]);
}

std::string cpu_list(const std::set<int>& cpus) {
  std::string list;
  for (auto cpu = cpus.begin(); cpu != cpus.end();) {
    const int first = *cpu;
    int last = first;
    while (++cpu != cpus.end() && *cpu == last + 1) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last > first) list += fmt::format("-{}", last);
  }
  return list;
}

double own_cpus() {
  const auto allowed = static_cast<double>(cpus_in(allowed_cpus()).size());
  const double quota = cpu_quota();
  return quota > 0 ? std::min(quota, allowed) : allowed;
}

int default_threads(double cpus, const Backend& backend) {
  const int each = std::max(1, backend.info().threads_per_rank);
  return std::clamp(static_cast<int>(cpus / each), 2, 4);
}

std::string cpu_shortage(const std::vector<RankIdentity>& ranks, const Backend& backend,
                         bool loads) {
  if (ranks.size() == 1 && !loads) return {};
  const int threads_of_library = backend.info().threads_per_rank;
  const int threads = threads_of_library + (loads ? 1 : 0);
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
  const std::string each = threads_of_library > 1 ? fmt::format(" x {} threads of {}",
                                                                threads_of_library, backend.name())
                                                  : "";
  const std::string others =
      short_of > 1 ? fmt::format(" (and on {} more host{})", short_of - 1, short_of == 2 ? "" : "s")
                   : "";
  return fmt::format(
      "{:.3g} CPUs for {} busy threads ({} rank{}{}{}) on {}{}: {} include waiting "
      "for a CPU",
      worst->cpus_there(), worst->ranks * threads, worst->ranks, worst->ranks == 1 ? "" : "s", each,
      loads ? ", each with a load" : "", worst->host, others, loads ? "ratios" : "times");
}

std::string more_cpus(const std::vector<RankIdentity>& ranks, const std::string& launcher,
                      const Environment& environment) {
  if (launcher == "mpirun (Open MPI)") return "mpirun --bind-to none, or --map-by slot:PE=N";
  if (launcher != "srun") return {};
  std::set<int> cpus;
  std::set<long> processes;
  for (const RankIdentity& rank : ranks) {
    if (rank.machine != ranks.front().machine) continue;
    cpus.merge(cpus_in(rank.cpus));
    processes.insert(rank.pid);
  }
  // "2(x3),1": of the nodes in turn.
  const std::string job = environment("SLURM_JOB_CPUS_PER_NODE").value_or("");
  const std::size_t of_job = std::strtoul(job.c_str(), nullptr, 10);
  const std::size_t each = of_job / processes.size();
  if (of_job <= cpus.size() || each == 0) return "srun -c N";
  return fmt::format(
      "srun -c {0}, or SRUN_CPUS_PER_TASK={0} in front of srun: the job has {1} CPUs on this node "
      "(SLURM_JOB_CPUS_PER_NODE={2}), the step uses {3} of them (SLURM_CPUS_PER_TASK: {4})",
      each, of_job, job, cpus.size(), environment("SLURM_CPUS_PER_TASK").value_or("not set"));
}

}  // namespace ccl_tests
