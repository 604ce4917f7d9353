#include "src/bootstrap/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "src/bootstrap/net.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

std::optional<int> number_of(const Environment& environment, const char* name, int least,
                             int most = std::numeric_limits<int>::max()) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  return static_cast<int>(whole_number(name, *text, least, most));
}

bool is_torchrun(const Environment& environment) {
  return environment("TORCHELASTIC_RUN_ID") || environment("TORCHELASTIC_USE_AGENT_STORE");
}

// Variables of RANK's kind: a launcher's number of processes, this process, its number on its host.
struct Names {
  const char *size, *rank, *local;
};
constexpr Names open_mpi = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_LOCAL_RANK"};
constexpr Names hydra = {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"};
constexpr Names slurm_step = {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"};
constexpr Names plain = {"WORLD_SIZE", "RANK", "LOCAL_RANK"};

constexpr int most_processes = 1 << 20;

bool are_set(const Environment& environment, const Names& names) {
  return environment(names.size) && environment(names.rank);
}
// Slurm's own PMI-2 sets PMI_RANK and PMI_SIZE too.
bool is_hydra(const Environment& environment) {
  return are_set(environment, hydra) && environment(hydra.local);
}

void read_numbers(const Environment& environment, const Names& names, Launch& launch) {
  const std::optional<int> size = number_of(environment, names.size, 1, most_processes);
  const std::optional<int> rank = number_of(environment, names.rank, 0);
  if (!size)
    throw UsageError(
        fmt::format("{}: set without {}; accepted: both or none, or another launcher by --launcher",
                    names.rank, names.size));
  if (!rank && *size > 1)
    throw UsageError(fmt::format(
        "{}: {} is set without {}; accepted: both or none, or another launcher by --launcher",
        names.size, *size, names.rank));
  if (rank.value_or(0) >= *size)
    throw UsageError(fmt::format("{}: {} is not below {}={}; accepted: 0 to {} - 1", names.rank,
                                 *rank, names.size, *size, names.size));
  launch.processes = *size;
  launch.size_name = names.size;
  launch.process = rank.value_or(0);
  launch.local_process = number_of(environment, names.local, 0).value_or(0);
}

void read_master(const Environment& environment, Launch& launch) {
  launch.master_host = host_alone("MASTER_ADDR", environment("MASTER_ADDR").value_or(""));
  launch.names_come_late = environment("KUBERNETES_SERVICE_HOST").has_value();
  launch.master_port = number_of(environment, "MASTER_PORT", 1, 65535).value_or(29500);
  launch.key_prefix =
      fmt::format("ccl-tests/{}/{}/", environment("TORCHELASTIC_RUN_ID").value_or("none"),
                  environment("TORCHELASTIC_RESTART_COUNT").value_or("0"));
  launch.secret = environment("CCL_JOB_SECRET").value_or("");
}

Launch from_environment(const Environment& environment) {
  Launch launch;
  read_numbers(environment, plain, launch);
  const auto ours = environment("CCL_LAUNCHER");
  launch.launcher = ours && !ours->empty()     ? *ours
                    : is_torchrun(environment) ? "torchrun"
                                               : "environment";
  read_master(environment, launch);
  launch.agent_store = environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (is_torchrun(environment)) launch.job = launch.key_prefix;
  launch.listener = number_of(environment, "CCL_LISTENER", 0).value_or(-1);
  if (launch.processes > 1 && launch.master_host.empty())
    throw UsageError(
        fmt::format("MASTER_ADDR: not set, with WORLD_SIZE={}; accepted: the host of rank 0",
                    launch.processes));
  return launch;
}

// backend: the MPI that is asked for knows its own mpirun.
Launch from_mpirun(const Environment& environment, std::string_view backend) {
  Launch launch;
  const bool prefers_hydra = backend == "mpi-mpich" && is_hydra(environment);
  const bool open = are_set(environment, open_mpi) && !prefers_hydra;
  read_numbers(environment, open ? open_mpi : hydra, launch);
  launch.launcher = open ? "mpirun (Open MPI)" : "mpirun (MPICH)";
  launch.mpi_module = open ? "mpi-openmpi" : "mpi-mpich";
  read_master(environment, launch);
  return launch;
}

// Returns a number of 32 bits: salloc's interactive step is 4294967290.
std::int64_t slurm_id(const Environment& environment, const char* name) {
  const std::string text = environment(name).value_or("0");
  return whole_number(name, text, 0, std::numeric_limits<std::uint32_t>::max());
}

// Returns the same on every task of the step: the first port that Slurm reserved for it
// ("12001-12003"), or one below the ephemeral ports, another for every other step.
int step_port(const Environment& environment) {
  constexpr const char* reserved = "SLURM_STEP_RESV_PORTS";
  const std::string list = environment(reserved).value_or("");
  if (!list.empty())
    return static_cast<int>(
        whole_number(reserved, list.substr(0, list.find_first_of("-,")), 1, 65535));
  constexpr int lowest = 10000, ports = 20000;
  const std::int64_t job = slurm_id(environment, "SLURM_JOB_ID");
  const std::int64_t step = slurm_id(environment, "SLURM_STEP_ID");
  return lowest + static_cast<int>((job * 31 + step) % ports);
}

Launch from_slurm(const Environment& environment) {
  Launch launch;
  read_numbers(environment, slurm_step, launch);
  launch.launcher = "srun";
  read_master(environment, launch);
  launch.job = fmt::format("slurm {}.{}", environment("SLURM_JOB_ID").value_or(""),
                           environment("SLURM_STEP_ID").value_or(""));
  if (launch.processes == 1) return launch;
  if (!environment("MASTER_PORT")) launch.master_port = step_port(environment);
  if (!launch.master_host.empty()) return launch;
  const bool one_node = environment("SLURM_STEP_NUM_NODES") == "1";
  launch.master_host =
      one_node ? "127.0.0.1" : first_host(environment("SLURM_STEP_NODELIST").value_or(""));
  if (launch.master_host.empty())
    throw Error(fmt::format(
        "started by srun (SLURM_STEP_NUM_TASKS={}), but SLURM_STEP_NODELIST names no host: set "
        "MASTER_ADDR, the host of task 0",
        launch.processes));
  return launch;
}

// Returns the launcher's variables that speak of the most processes, and of how many. Null if of no
// more than one.
std::pair<const Names*, int> largest_claim(
    const Environment& environment, const std::function<bool(const Names&)>& counts = nullptr) {
  std::pair<const Names*, int> largest = {nullptr, 1};
  for (const Names* names : {&open_mpi, &hydra, &slurm_step, &plain}) {
    if (environment(names->size).value_or("").empty() || (counts && !counts(*names))) continue;
    const int size = number_of(environment, names->size, 0, most_processes).value_or(0);
    if (size > largest.second) largest = {names, size};
  }
  return largest;
}

struct Launcher {
  std::string_view name;  // of --launcher
  std::vector<const char*> needs;
  const char* starter;  // what sets these variables
  std::function<bool(const Environment&)> is_there;
  std::function<Launch(const Environment&)> read;
};

std::vector<Launcher> all_launchers(const std::string& backend) {
  return {
      {"torchrun",
       {plain.rank, plain.size, "TORCHELASTIC_RUN_ID"},
       "torchrun",
       [](const Environment& e) { return is_torchrun(e) && are_set(e, plain); },
       from_environment},
      {"env",
       {plain.rank, plain.size},
       "you or a script",
       [](const Environment& e) { return e(plain.size) || e(plain.rank); },
       from_environment},
      {"mpi",
       {open_mpi.rank, open_mpi.size},
       "mpirun (MPICH's: PMI_RANK, PMI_SIZE and MPI_LOCALRANKID)",
       [](const Environment& e) { return are_set(e, open_mpi) || is_hydra(e); },
       [backend](const Environment& e) { return from_mpirun(e, backend); }},
      {"slurm",
       {slurm_step.rank, slurm_step.size},
       "srun",
       [](const Environment& e) { return are_set(e, slurm_step); },
       from_slurm},
  };
}

// Refuses a launcher whose variables are not all there, which --launcher names.
Launch not_there(const Environment& environment, const Launcher& launcher) {
  const auto [others, size] = largest_claim(environment);
  if (launcher.name == "mpi" && others == nullptr) return {};  // MPI without mpirun: one process
  std::vector<const char*> missing = launcher.needs;
  std::erase_if(missing, [&](const char* name) { return environment(name).has_value(); });
  const std::string also =
      others == nullptr ? "" : fmt::format(" (here {}={})", others->size, size);
  throw UsageError(fmt::format("--launcher {}: not set: {}{}; accepted where {} sets them",
                               launcher.name, fmt::join(missing, ", "), also, launcher.starter));
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::int64_t whole_number(std::string_view name, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most)
    throw UsageError(fmt::format("{}: {} is not accepted; accepted: a whole number from {} to {}",
                                 name, quote(text), least, most));
  return value;
}

std::string more_processes(const Launch& launch, std::size_t count) {
  const bool by_srun = launch.launcher == "srun";
  const std::string what = by_srun ? "task" : "process";
  const std::string_view plural = count == 1 ? "" : by_srun ? "s" : "es";
  const std::string of =
      by_srun ? fmt::format(" of srun step {}", launch.job.substr(launch.job.find(' ') + 1))
              : fmt::format(" ({}={})", launch.size_name, launch.processes);
  return fmt::format("{} more {}{}{}", count, what, plural, of);
}

void refuse_contradiction(const Environment& environment, const Launch& launch, bool is_asked_for) {
  const bool alone = launch.processes == 1;
  const bool by_mpi = !launch.mpi_module.empty();
  const auto [names, size] = largest_claim(environment, [&](const Names& other) {
    if (other.size == launch.size_name) return false;
    if (alone || (by_mpi && (&other == &open_mpi || &other == &hydra))) return true;
    // srun starts an agent of torchrun on each node, and mpirun its daemons by a step of srun.
    return !is_asked_for && launch.launcher != "torchrun" && !(by_mpi && &other == &slurm_step);
  });
  if (size <= launch.processes) return;
  throw Error(fmt::format(
      "{}={}, but {}={}: each of these {}; unset the variables of the launcher that did not start "
      "them, or say --launcher local to run alone",
      launch.size_name, launch.processes, names->size, size,
      alone ? "processes would run alone"
            : fmt::format("{} processes would take part in a job of {}", size, launch.processes)));
}

Launch detect_launch(const Environment& environment, const std::string& choice,
                     const std::string& backend) {
  if (environment("CCL_LAUNCHER")) return from_environment(environment);  // a child of --np
  if (choice == "local") return {};
  for (const Launcher& launcher : all_launchers(backend)) {
    if (choice != "auto" && choice != launcher.name) continue;
    if (launcher.is_there(environment)) {
      Launch launch = launcher.read(environment);
      refuse_contradiction(environment, launch, choice != "auto");
      return launch;
    }
    if (choice == launcher.name) return not_there(environment, launcher);
  }
  const auto [names, size] = largest_claim(environment);
  if (names == nullptr) return {};
  throw Error(
      fmt::format("{}={}, but {} or what else a launcher of several processes sets is missing, and "
                  "each process would run alone; give every process RANK, WORLD_SIZE={}, "
                  "MASTER_ADDR (rank 0's host) and MASTER_PORT",
                  names->size, size, names->rank, size));
}

std::string first_host(const std::string& node_list) {
  std::string host;
  bool in_brackets = false;
  bool past_first = false;  // within brackets: behind the first of the alternatives
  for (const char c : node_list) {
    if (!in_brackets && c == ',') break;
    if (c == '[' && !in_brackets) {
      in_brackets = true;
      past_first = false;
    } else if (c == ']' && in_brackets) {
      in_brackets = false;
    } else if (in_brackets && (c == '-' || c == ',')) {
      past_first = true;
    } else if (!in_brackets || !past_first) {
      host += c;
    }
  }
  return in_brackets ? std::string() : host;
}

}  // namespace ccl_tests
