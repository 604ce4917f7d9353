// What launchers' environment variables claim: that this process is one of so many.
#pragma once

#include <functional>
#include <string>

#include "src/bootstrap/launch.hpp"

namespace ccl_tests {

// A launcher's variables of RANK's kind.
struct LauncherNames {
  const char* rank;
  const char* size;     // null: the launcher tells no number of processes
  const char* starter;  // what sets these variables
  const char* local = nullptr;
};
namespace launch_names {
constexpr LauncherNames open_mpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                    "Open MPI's mpirun", "OMPI_COMM_WORLD_LOCAL_RANK"};
constexpr LauncherNames pmi = {"PMI_RANK", "PMI_SIZE", "PMI: MPICH's mpirun, Cray PALS, Flux",
                               "MPI_LOCALRANKID"};
constexpr LauncherNames slurm_step = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun",
                                      "SLURM_LOCALID"};
constexpr LauncherNames plain = {"RANK", "WORLD_SIZE", "you or a script", "LOCAL_RANK"};
}  // namespace launch_names

// Returns the value of a variable. Empty if it is not set, or if `name` is null.
std::string value_in(const Environment& environment, const char* name);

// Returns the number that `text` begins with, 0 if it is none: PET_NNODES may be "1:4".
int leading_number(const std::string& text);

// So many processes at least, as a variable says.
struct Claim {
  int size = 1;
  std::string said = {};  // "PMI_SIZE=2", "PMIX_RANK=1"
};

// Returns the largest claim of those launchers' of which `counts` is true. Nothing is said if none
// claims more than one process.
Claim largest_claim(const Environment& environment,
                    const std::function<bool(const LauncherNames&)>& counts = nullptr);

// Returns true if a launcher's variable says that this process is not the first one.
bool is_claimed_not_first(const Environment& environment);

// Throws Error if a variable says that this process is one of several. Called if no launcher that
// can be used is there: each process would run alone.
void refuse_claims(const Environment& environment);

// Throws Error if a launcher's variables speak of more processes than `launch` has.
// Launchers start each other, and scripts set variables by hand: who believes those of too few
// measures too little.
// is_asked_for: by --launcher; a job of several processes may then be a part of the launcher's.
void refuse_contradiction(const Environment& environment, const Launch& launch, bool is_asked_for);

}  // namespace ccl_tests
