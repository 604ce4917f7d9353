// The launch of this process, as the launcher's environment variables tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ccl_tests {

// Reads one environment variable; tests pass their own.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

struct Launch {
  // Printed in the header: "none", "environment", "torchrun", "local processes", "mpirun (Open
  // MPI)", "mpirun (MPICH)", "Cray PALS", "Flux", "PMI", "srun", "simulated (SimGrid SMPI)".
  std::string launcher = "none";
  bool by_np() const { return launcher == "local processes"; }
  int process = 0;
  int processes = 1;
  std::string size_name;     // the variable that says how many: "PMI_SIZE"
  int local_process = 0;     // 0 also if the launcher does not tell it
  bool may_be_part = false;  // the user asks for it: the launcher started more processes
  std::string master_host;   // where process 0 listens, or an agent hosts its store
  int master_port = 0;
  std::string host_name = "MASTER_ADDR", port_name = "MASTER_PORT";  // what says the two
  bool names_come_late = false;  // Kubernetes knows a pod's name only when the pod is there
  // An agent's store listens there and carries process 0's address (TORCHELASTIC_USE_AGENT_STORE).
  bool agent_store = false;
  int listener = -1;       // in process 0 of --np: the socket that listens there already
  std::string job;         // what the launcher calls the job, or nothing
  std::string secret;      // CCL_JOB_SECRET, or nothing; never printed
  std::string key_prefix;  // "ccl-tests/<run id>/<restart count>/"
  std::string mpi_module;  // of the MPI whose mpirun started this process: "mpi-openmpi",
                           // "mpi-mpich". Without a master_host it carries process 0's address
};

// Returns what started this process, as its environment variables say. The first that is there:
//   torchrun  TORCHELASTIC_RUN_ID or TORCHELASTIC_USE_AGENT_STORE, with RANK and WORLD_SIZE
//   env       RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT (29500), LOCAL_RANK; so a user's own win
//             under every launcher
//   mpi       Open MPI's OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, or PMI_RANK and PMI_SIZE of Hydra
//             (MPICH), Cray PALS and Flux. Slurm's own PMI-2 sets these two also, without
//             MPI_LOCALRANKID. Before Slurm, because mpirun in an allocation has both
//   slurm     a step of srun: SLURM_PROCID, SLURM_STEP_NUM_TASKS (SLURM_NTASKS is a batch script's
//             too), SLURM_LOCALID; process 0 is at MASTER_ADDR or the first host of
//             SLURM_STEP_NODELIST, on MASTER_PORT, the first of SLURM_STEP_RESV_PORTS, or a port
//             made from the ids of job and step
//   local     nothing: this process alone
// choice: "auto", or one of these names (--launcher); "mpi" without mpirun, where nothing speaks
// of other processes, is one process. backend: of the variables of two MPIs, those of --backend's
// are taken, otherwise Open MPI's. Throws Error if any launcher's variable (claims.hpp) speaks of
// several processes and nothing tells how they meet, UsageError on values that are no numbers,
// contradict each other, or lack for the choice, and what refuse_contradiction throws.
Launch detect_launch(const Environment& environment, const std::string& choice = "auto",
                     const std::string& backend = {});

// Returns how a launcher calls `count` processes that are missing: "7 more tasks of srun step 1.0",
// "1 more process (WORLD_SIZE=2)".
std::string more_processes(const Launch& launch, std::size_t count);

// Returns the whole number that `text`, the value of `name`, is. Throws UsageError if it is none
// from least to most.
std::int64_t whole_number(std::string_view name, const std::string& text, std::int64_t least,
                          std::int64_t most);

// Returns the first host of a list as SLURM_STEP_NODELIST has it: "n[01-03,07],gpu2" -> "n01",
// "rack[2-3]-node[10-12]" -> "rack2-node10". Empty for a list that is none.
std::string first_host(const std::string& node_list);

}  // namespace ccl_tests
