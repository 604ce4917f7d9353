#include "src/bootstrap/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "src/bootstrap/claims.hpp"
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

using namespace launch_names;

constexpr int most_processes = 1 << 20;

bool are_set(const Environment& environment, const LauncherNames& names) {
  return environment(names.size) && environment(names.rank);
}
// Slurm's own PMI-2 sets PMI_RANK and PMI_SIZE too.
bool is_pmi(const Environment& environment) {
  return are_set(environment, pmi) &&
         (environment(pmi.local) || environment("FLUX_TASK_LOCAL_ID") ||
          !are_set(environment, slurm_step));
}

void read_numbers(const Environment& environment, const LauncherNames& names, Launch& launch) {
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

// A PyTorchJob of Kubernetes tells each pod its number in RANK, but counts processes in WORLD_SIZE.
// torchrun, or a script that starts these processes, sets LOCAL_RANK.
void refuse_pods(const Environment& environment, const Launch& launch) {
  const int pods = leading_number(value_in(environment, "PET_NNODES"));
  const int each = leading_number(value_in(environment, "PET_NPROC_PER_NODE"));
  if (environment(plain.local) || each < 2 || launch.processes != std::int64_t{pods} * each ||
      launch.process >= pods)
    return;
  throw Error(fmt::format(
      "RANK={} counts pods, but WORLD_SIZE={} processes (PET_NNODES={}, PET_NPROC_PER_NODE={}): "
      "ranks from {} on would be missing; start torchrun --no-python PROGRAM ... in each pod, or "
      "WORLD_SIZE={} with -t {}, or set LOCAL_RANK if RANK counts processes",
      launch.process, launch.processes, pods, each, pods, pods, each));
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
  refuse_pods(environment, launch);
  if (launch.processes > 1 && launch.master_host.empty())
    throw UsageError(
        fmt::format("MASTER_ADDR: not set, with WORLD_SIZE={}; accepted: the host of rank 0",
                    launch.processes));
  return launch;
}

// What starts processes by PMI: a variable that it sets, and that for the number on the host.
struct PmiLauncher {
  const char *name, *sets, *local;
};
constexpr PmiLauncher pmi_launchers[] = {{"mpirun (MPICH)", pmi.local, pmi.local},
                                         {"Cray PALS", "PALS_RANKID", "PALS_LOCAL_RANKID"},
                                         {"Flux", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID"},
                                         {"PMI", pmi.rank, "PMI_LOCAL_RANK"}};

// backend: the MPI that is asked for knows its own mpirun.
Launch from_mpirun(const Environment& environment, std::string_view backend) {
  Launch launch;
  const bool prefers_pmi = backend == "mpi-mpich" && is_pmi(environment);
  if (are_set(environment, open_mpi) && !prefers_pmi) {
    read_numbers(environment, open_mpi, launch);
    launch.launcher = "mpirun (Open MPI)";
    launch.mpi_module = "mpi-openmpi";
  } else {
    const auto* const by =
        std::find_if(std::begin(pmi_launchers), std::end(pmi_launchers),
                     [&](const PmiLauncher& known) { return environment(known.sets).has_value(); });
    LauncherNames found = pmi;
    found.local = by->local;
    read_numbers(environment, found, launch);
    launch.launcher = by->name;
    if (!environment(by->local)) launch.local_process = -1;
    if (by == pmi_launchers) launch.mpi_module = "mpi-mpich";  // others start any MPI
  }
  read_master(environment, launch);
  return launch;
}

// Returns a number of 32 bits: salloc's interactive step is 4294967290.
std::int64_t slurm_id(const Environment& environment, const char* name) {
  const std::string text = environment(name).value_or("0");
  return whole_number(name, text, 0, std::numeric_limits<std::uint32_t>::max());
}

// Takes the same on every task of the step: the first port that Slurm reserved for it
// ("12001-12003"), or one below the ephemeral ports, another for every other step.
void take_step_port(const Environment& environment, Launch& launch) {
  constexpr const char* reserved = "SLURM_STEP_RESV_PORTS";
  const std::string list = environment(reserved).value_or("");
  if (!list.empty()) {
    launch.master_port = static_cast<int>(
        whole_number(reserved, list.substr(0, list.find_first_of("-,")), 1, 65535));
    launch.port_name = reserved;
    return;
  }
  constexpr int lowest = 10000, ports = 20000;
  const std::int64_t job = slurm_id(environment, "SLURM_JOB_ID");
  const std::int64_t step = slurm_id(environment, "SLURM_STEP_ID");
  launch.master_port = lowest + static_cast<int>((job * 31 + step) % ports);
  launch.port_name = "SLURM_JOB_ID";
}

Launch from_slurm(const Environment& environment) {
  Launch launch;
  read_numbers(environment, slurm_step, launch);
  launch.launcher = "srun";
  read_master(environment, launch);
  launch.job = fmt::format("slurm {}.{}", environment("SLURM_JOB_ID").value_or(""),
                           environment("SLURM_STEP_ID").value_or(""));
  if (launch.processes == 1) return launch;
  if (!environment("MASTER_PORT")) take_step_port(environment, launch);
  if (!launch.master_host.empty()) return launch;
  const bool one_node = environment("SLURM_STEP_NUM_NODES") == "1";
  launch.host_name = one_node ? "SLURM_STEP_NUM_NODES" : "SLURM_STEP_NODELIST";
  launch.master_host =
      one_node ? "127.0.0.1" : first_host(environment("SLURM_STEP_NODELIST").value_or(""));
  if (launch.master_host.empty())
    throw Error(fmt::format(
        "started by srun (SLURM_STEP_NUM_TASKS={}), but SLURM_STEP_NODELIST names no host: set "
        "MASTER_ADDR, the host of task 0",
        launch.processes));
  return launch;
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
       "mpirun (MPICH's, PALS and Flux: PMI_RANK, PMI_SIZE)",
       [](const Environment& e) { return are_set(e, open_mpi) || is_pmi(e); },
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
  const std::string others = largest_claim(environment).said;
  const bool others_meet = environment(slurm_step.size) || environment(plain.size);
  if (launcher.name == "mpi" && (others.empty() || !others_meet)) {
    refuse_claims(environment);
    return {};  // MPI without mpirun: one process
  }
  std::vector<const char*> missing = launcher.needs;
  std::erase_if(missing, [&](const char* name) { return environment(name).has_value(); });
  const std::string also = others.empty() ? "" : fmt::format(" (here {})", others);
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

Launch detect_launch(const Environment& environment, const std::string& choice,
                     const std::string& backend) {
  const bool child_of_np = environment("CCL_LAUNCHER").has_value();
  if (choice == "local" || child_of_np) {
    Launch launch = child_of_np ? from_environment(environment) : Launch{};
    launch.may_be_part = choice == "local";
    return launch;
  }
  for (const Launcher& launcher : all_launchers(backend)) {
    if (choice != "auto" && choice != launcher.name) continue;
    if (launcher.is_there(environment)) {
      Launch launch = launcher.read(environment);
      refuse_contradiction(environment, launch, choice != "auto");
      launch.may_be_part = choice != "auto" && launch.processes > 1;
      return launch;
    }
    if (choice == launcher.name) return not_there(environment, launcher);
  }
  refuse_claims(environment);
  return {};
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
