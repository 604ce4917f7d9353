#include "src/bootstrap/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

constexpr const char* torchrun = "torchrun";

// Those that tell the number of processes come first.
constexpr LauncherNames known_names[] = {
    launch_names::open_mpi,
    launch_names::pmi,
    launch_names::slurm_step,
    launch_names::plain,
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MVAPICH2"},
    {"MPIRUN_RANK", "MPIRUN_NPROCS", "MVAPICH"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "Flux"},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun"},
    {"MPI_RANKID", "MPI_NRANKS", "Platform MPI"},
    {"MPIRANK", "MPISIZE", "NEC MPI"},
    {"HOROVOD_RANK", "HOROVOD_SIZE", "horovodrun"},
    {"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "Paddle"},
    {"PET_NODE_RANK", "PET_NNODES", torchrun},
    {"GROUP_RANK", "GROUP_WORLD_SIZE", torchrun},
    {"ROLE_RANK", "ROLE_WORLD_SIZE", torchrun},
    {"PMIX_RANK", nullptr, "PMIx: prun, srun --mpi=pmix"},
    {"PALS_RANKID", nullptr, "Cray PALS"},
    {"ALPS_APP_PE", nullptr, "Cray ALPS"},
    {"PMI_FORK_RANK", nullptr, "Cray ALPS"},
    {"MP_CHILD", nullptr, "IBM's poe"},
    {"LAMRANK", nullptr, "LAM/MPI"},
};

bool is_one(const std::string& size) { return size.empty() || size == "0" || size == "1"; }

// Returns whether the variables say that this process is one of several. A batch script of Slurm
// has SLURM_PROCID=0 alone. is_single: another launcher says that the job has one process.
bool claims_several(const Environment& environment, const LauncherNames& names, bool is_single) {
  const std::string rank = value_in(environment, names.rank);
  const std::string size = value_in(environment, names.size);
  if (!is_one(size)) return true;
  if (rank.empty()) return false;
  return rank != "0" || (size.empty() && !is_single && names.rank != launch_names::slurm_step.rank);
}

}  // namespace

std::string value_in(const Environment& environment, const char* name) {
  return name == nullptr ? "" : environment(name).value_or("");
}

int leading_number(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Claim largest_claim(const Environment& environment,
                    const std::function<bool(const LauncherNames&)>& counts) {
  Claim largest;
  for (const LauncherNames& names : known_names) {
    if (counts && !counts(names)) continue;
    const int size = leading_number(value_in(environment, names.size));
    const int rank = leading_number(value_in(environment, names.rank));
    if (size > largest.size) largest = {size, fmt::format("{}={}", names.size, size)};
    if (rank >= largest.size) largest = {rank + 1, fmt::format("{}={}", names.rank, rank)};
  }
  return largest;
}

bool is_claimed_not_first(const Environment& environment) {
  return std::any_of(std::begin(known_names), std::end(known_names),
                     [&](const LauncherNames& names) {
                       return leading_number(value_in(environment, names.rank)) > 0;
                     });
}

void refuse_claims(const Environment& environment) {
  const bool is_single = std::any_of(
      std::begin(known_names), std::end(known_names),
      [&](const LauncherNames& names) { return value_in(environment, names.size) == "1"; });
  const auto* const found = std::find_if(
      std::begin(known_names), std::end(known_names),
      [&](const LauncherNames& names) { return claims_several(environment, names, is_single); });
  if (found == std::end(known_names)) return;
  const std::string rank = value_in(environment, found->rank);
  const std::string size = value_in(environment, found->size);
  std::string said = rank.empty() ? "" : fmt::format("{}={}", found->rank, rank);
  if (!size.empty()) said += fmt::format("{}{}={}", rank.empty() ? "" : ", ", found->size, size);
  if (rank.empty() || (size.empty() && found->size != nullptr))
    said += fmt::format(", without {}", rank.empty() ? found->rank : found->size);
  const std::string start =
      found->starter == torchrun
          ? "torchrun --no-python PROGRAM"
          : fmt::format("sh -c 'RANK=${} WORLD_SIZE={} MASTER_ADDR=HOST exec \"$@\"' sh PROGRAM",
                        rank.empty() ? "NUMBER" : found->rank,
                        size.empty() ? "N" : fmt::format("${}", found->size));
  throw Error(fmt::format(
      "{} (set by {}): this is one of several processes, but nothing says how they meet, and each "
      "would run alone; start {} ... (HOST is rank 0's), or say --launcher local to run alone",
      said, found->starter, start));
}

void refuse_contradiction(const Environment& environment, const Launch& launch, bool is_asked_for) {
  const bool alone = launch.processes == 1;
  const auto is_mpi = [](std::string_view size) {
    return size == launch_names::open_mpi.size || size == launch_names::pmi.size;
  };
  const bool by_mpi = is_mpi(launch.size_name);
  const auto [size, said] = largest_claim(environment, [&](const LauncherNames& other) {
    const std::string_view other_size = other.size == nullptr ? "" : other.size;
    if (other_size == launch.size_name) return false;
    if (alone || (by_mpi && is_mpi(other_size))) return true;
    // srun starts an agent of torchrun on each node, and mpirun its daemons by a step of srun.
    return !is_asked_for && launch.launcher != "torchrun" && !by_mpi;
  });
  if (size <= launch.processes) return;
  throw Error(fmt::format(
      "{}={}, but {}: each of these {}; unset the variables of the launcher that did not start "
      "them, or say --launcher local to run alone",
      launch.size_name, launch.processes, said,
      alone ? "processes would run alone"
            : fmt::format("{} processes would take part in a job of {}", size, launch.processes)));
}

}  // namespace ccl_tests
