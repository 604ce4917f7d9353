#include "src/run/rank_facts.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "src/job/rank_cpus.hpp"
#include "verify/arithmetic.hpp"

namespace ccl_tests {
namespace {

template <std::size_t N>
bool begins_with_one_of(std::string_view name, const std::array<std::string_view, N>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view one) { return name.starts_with(one); });
}

// A name, or the beginning of names. Any setting of a library may explain a time.
constexpr auto recorded = std::to_array<std::string_view>(
    {"CUDA_DEVICE_", "CUDA_LAUNCH_", "CUDA_MODULE_",   "CUDA_VISIBLE_DEVICES",
     "FI_",          "GLOO_",        "GLIBC_TUNABLES", "HCOLL_",
     "I_MPI_",       "LD_AUDIT",     "LD_BIND_NOW",    "LD_LIBRARY_PATH",
     "LD_PRELOAD",   "MALLOC_",      "MPICH_",         "MPIR_CVAR_",
     "MV2_",         "NCCL_",        "OMPI_MCA_",      "OMP_",
     "PMIX_MCA_",    "PRTE_MCA_",    "PSM2_",          "PSM3_",
     "RCCL_",        "SHARP_",       "UCC_",           "UCX_"});
// What launchers tell processes of themselves, which differs from process to process and job to
// job.
constexpr auto told_by_mpirun = std::to_array<std::string_view>(
    {"I_MPI_HYDRA", "I_MPI_INFO", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "MV2_COMM_WORLD",
     "OMPI_MCA_ess", "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_orte_",
     "OMPI_MCA_pmix", "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_shmem_RUNTIME",
     "PMIX_MCA_mca_base_component_show_load_errors"});
constexpr auto of_launchers = std::to_array<std::string_view>(
    {"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "MASTER_ADDR=", "MASTER_PORT=", "TORCHELASTIC_RUN_ID=",
     "TORCHELASTIC_RESTART_COUNT="});
// Of each rank its own, which its line of the header has, or --share-gpus sets.
constexpr auto own = std::to_array<std::string_view>(
    {"RANK=", "LOCAL_RANK=", "CUDA_VISIBLE_DEVICES=", "NCCL_HOSTID="});

RankFacts facts_of(const Rank& rank) {
  const Process& process = rank.process();
  const RankIdentity& me = rank.table()[rank.rank()];
  const BackendInfo& library = process.backend.info();
  ::utsname system{};
  RankFacts facts = {{"CPUs", me.cpus},
                     {"CPU model", me.cpu},
                     {"arithmetic", verify::processor_arithmetic()},
                     {"CPU quota", fmt::format("{:g}", me.cpu_quota)},
                     {"last-level cache", fmt::format("{} B", me.last_cache)},
                     {"kernel", ::uname(&system) == 0 ? system.release : "unknown"},
                     {"library", library.version + " " + library.library}};
  if (rank.gpu() != nullptr) facts["GPUs"] = rank.gpu()->info().description;
  for (const std::string& variable : recorded_environment(process.launch.by_np()))
    if (const std::size_t end = variable.find('='); !begins_with_one_of(variable, own))
      facts[variable.substr(0, end)] = variable.substr(end + 1);
  return facts;
}

}  // namespace

bool is_of_launcher(std::string_view variable) {
  return begins_with_one_of(variable, of_launchers);
}

std::vector<std::string> recorded_environment(bool by_np) {
  std::vector<std::string> set;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if ((begins_with_one_of(*entry, recorded) && !begins_with_one_of(*entry, told_by_mpirun)) ||
        (!by_np && is_of_launcher(*entry)))
      set.emplace_back(*entry);
  std::sort(set.begin(), set.end());
  return set;
}

std::vector<std::string> differences(const std::vector<RankFacts>& ranks) {
  constexpr std::size_t most_shown = 8;
  std::set<std::string> names;
  for (const RankFacts& facts : ranks)
    for (const auto& [name, value] : facts) names.insert(name);
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    std::vector<std::pair<std::string, std::set<int>>> said;  // by whom, as ranks follow
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto found = ranks[r].find(name);
      const std::string value = found == ranks[r].end() ? "not set" : found->second;
      auto same = std::find_if(said.begin(), said.end(),
                               [&](const auto& one) { return one.first == value; });
      if (same == said.end()) same = said.insert(same, {value, {}});
      same->second.insert(static_cast<int>(r));
    }
    if (said.size() < 2) continue;
    std::string line = name + ':';
    for (std::size_t i = 0; i < std::min(said.size(), most_shown); ++i)
      line +=
          fmt::format("{} rank{} {}: {}", i == 0 ? "" : ",", said[i].second.size() == 1 ? "" : "s",
                      cpu_list(said[i].second), said[i].first);
    lines.push_back(line + (said.size() > most_shown ? ", ..." : ""));
  }
  return lines;
}

std::vector<std::string> rank_differences(Rank& rank) {
  if (rank.process().options.simulated()) return {};
  std::vector<RankFacts> all;
  for (const std::string& text :
       rank.world().gather(nlohmann::json(facts_of(rank))
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                           rank.limit_s()))
    all.push_back(nlohmann::json::parse(text).get<RankFacts>());
  return differences(all);
}

}  // namespace ccl_tests
