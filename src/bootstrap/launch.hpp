// How this process was started: what the launcher's environment variables say.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ccl {

// Reads one environment variable; tests pass their own.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

struct Launch {
  std::string
      launcher;       // "none", "environment", "torchrun", "local processes": printed in the header
  int process = 0;    // RANK
  int processes = 1;  // WORLD_SIZE
  int local_process = 0;    // LOCAL_RANK
  std::string master_host;  // MASTER_ADDR
  int master_port = 0;      // MASTER_PORT, default 29500
  bool agent_store =
      false;  // a store already listens there (TORCHELASTIC_USE_AGENT_STORE): never bind the port
  std::string key_prefix;  // "ccl-tests/<run id>/<restart count>/"
  std::string mpi_module;  // under mpirun, the module whose MPI carries process 0's address instead
                           // of a store: "mpi-openmpi", "mpi-mpich"
};

// What the variables RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT say; launcher "none"
// without WORLD_SIZE. A launcher's world size above 1 without a way to find the peers (mpirun or
// srun variables, but no RANK/MASTER_ADDR) throws Error saying what to set: running on alone would
// print a plausible, wrong table. Throws UsageError on values that are no numbers or contradict
// each other.
Launch detect_launch(const Environment& environment);

}  // namespace ccl
