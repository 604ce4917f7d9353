#include "src/bootstrap/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "src/core/error.hpp"

namespace ccl {
namespace {

int number(const char* name, const std::string& text, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most) {
    throw UsageError(fmt::format("{}: '{}' is not accepted; accepted: a whole number from {} to {}",
                                 name, text, least, most));
  }
  return value;
}

std::optional<int> number_of(const Environment& environment, const char* name, int least,
                             int most = std::numeric_limits<int>::max()) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  return number(name, *text, least, most);
}

// A launcher that started several processes, as its own variables say.
struct Started {
  std::string_view launcher, variable;
  std::string value, rank_variable;
};

std::optional<Started> started_by(const Environment& environment) {
  struct Known {
    const char *launcher, *size, *rank;
  };
  constexpr std::array<Known, 3> known = {
      {{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
       {"an MPI launcher", "PMI_SIZE", "PMI_RANK"},
       {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};
  for (const Known& k : known) {
    const std::optional<std::string> size = environment(k.size);
    if (!size || *size == "1" || *size == "0" || size->empty()) continue;
    if (std::string_view(k.launcher) == "srun" && !environment(k.rank)) continue;
    return Started{k.launcher, k.size, *size, k.rank};
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const Started& started) {
  throw Error(fmt::format(
      "started by {} ({}={}), but RANK and WORLD_SIZE do not say so, and each process would run "
      "alone: give every process RANK (its {}), WORLD_SIZE={}, MASTER_ADDR (rank 0's host) and "
      "MASTER_PORT, for example: {} ... sh -c 'RANK=${} WORLD_SIZE={} MASTER_ADDR=<host of rank "
      "0> exec <program>' (mpirun passes a constant with -x MASTER_ADDR=<host of rank 0>)",
      started.launcher, started.variable, started.value, started.rank_variable, started.value,
      started.launcher == "srun" ? "srun" : "mpirun", started.rank_variable, started.value));
}

std::string launcher_name(const Environment& environment) {
  if (const auto name = environment("CCL_LAUNCHER"); name && !name->empty()) return *name;
  const bool torchrun =
      environment("TORCHELASTIC_RUN_ID") || environment("TORCHELASTIC_USE_AGENT_STORE");
  return torchrun ? "torchrun" : "environment";
}

std::string key_prefix(const Environment& environment) {
  return fmt::format("ccl-tests/{}/{}/", environment("TORCHELASTIC_RUN_ID").value_or("none"),
                     environment("TORCHELASTIC_RESTART_COUNT").value_or("0"));
}

void read_ranks(const Environment& environment, Launch& launch) {
  const std::optional<int> ranks = number_of(environment, "WORLD_SIZE", 1);
  const std::optional<int> rank = number_of(environment, "RANK", 0);
  if (!ranks && !rank) return;
  if (!ranks) throw UsageError("RANK: set without WORLD_SIZE; accepted: both or none");
  if (!rank && *ranks > 1) {
    throw UsageError(
        fmt::format("WORLD_SIZE: {} is set without RANK; accepted: both or none", *ranks));
  }
  if (rank.value_or(0) >= *ranks) {
    throw UsageError(fmt::format(
        "RANK: {} is not below WORLD_SIZE={}; accepted: 0 to WORLD_SIZE - 1", *rank, *ranks));
  }
  launch.launcher = launcher_name(environment);
  launch.processes = *ranks;
  launch.process = rank.value_or(0);
  launch.local_process = number_of(environment, "LOCAL_RANK", 0).value_or(0);
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Launch detect_launch(const Environment& environment) {
  Launch launch;
  launch.launcher = "none";
  const std::optional<Started> started = started_by(environment);
  const bool told = environment("RANK") && environment("WORLD_SIZE");
  if (started && !told) {
    if (started->launcher == "srun") refuse(*started);
    const bool open_mpi = started->launcher == "mpirun";
    launch.launcher = open_mpi ? "mpirun (Open MPI)" : "mpirun (MPICH)";
    launch.mpi_module = open_mpi ? "mpi-openmpi" : "mpi-mpich";
    launch.processes = number(started->variable.data(), started->value, 1, 1 << 30);
    launch.process = number_of(environment, started->rank_variable.c_str(), 0).value_or(0);
    launch.local_process =
        number_of(environment, open_mpi ? "OMPI_COMM_WORLD_LOCAL_RANK" : "MPI_LOCALRANKID", 0)
            .value_or(0);
    return launch;
  }
  read_ranks(environment, launch);
  // A launcher's many processes, each told that it is the only one, by hand.
  if (started && launch.processes == 1 && launch.launcher == "environment") refuse(*started);

  launch.master_port = number_of(environment, "MASTER_PORT", 1, 65535).value_or(29500);
  launch.master_host = environment("MASTER_ADDR").value_or("");
  launch.agent_store = environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  launch.key_prefix = key_prefix(environment);
  if (launch.processes > 1 && launch.master_host.empty()) {
    throw Error(fmt::format("WORLD_SIZE={}, but MASTER_ADDR, the host of rank 0, is not set",
                            launch.processes));
  }
  return launch;
}

}  // namespace ccl
