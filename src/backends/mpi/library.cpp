#include "src/backends/mpi/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/write_all.hpp"

namespace ccl_tests::mpi_module {
namespace {

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// srun --mpi=none gives a task neither PMIx nor PMI; MPI_Init then ends every task of the step.
void refuse_step_without_pmi() {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (!is_set("SLURM_PROCID") || tasks == nullptr || std::atoi(tasks) <= 1) return;
  for (const char* name :
       {"PMIX_RANK", "PMI_RANK", "PMI_FD", "PMI_CONTROL_PORT", "OMPI_COMM_WORLD_RANK"})
    if (is_set(name)) return;
  throw Unsupported(
      "this Slurm step offers MPI no way to start (no PMIX_RANK, no PMI_RANK); use srun "
      "--mpi=pmix, or mpirun inside the allocation, or --backend gloo");
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// As the launcher says: a mpirun, srun, Flux or PALS. A process without one is alone.
bool all_on_one_host() {
  if (is_set("OMPI_COMM_WORLD_SIZE"))
    return value_of("OMPI_COMM_WORLD_LOCAL_SIZE") == value_of("OMPI_COMM_WORLD_SIZE");
  if (is_set("MPI_LOCALNRANKS")) return value_of("MPI_LOCALNRANKS") == value_of("PMI_SIZE");
  if (is_set("SLURM_STEP_NUM_NODES")) return value_of("SLURM_STEP_NUM_NODES") == "1";
  if (is_set("FLUX_JOB_NNODES")) return value_of("FLUX_JOB_NNODES") == "1";
  if (is_set("PMI_LOCAL_SIZE")) return value_of("PMI_LOCAL_SIZE") == value_of("PMI_SIZE");
  return !is_set("PMI_SIZE") && !is_set("PMIX_RANK");
}

#ifndef SMPI_H
std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns why ranks on this host cannot share memory, and what to do. Empty if nothing is known.
std::string shared_memory_trouble() {
  constexpr const char* writable = "mount it writable and larger (docker run --shm-size=1g)";
  constexpr double rank_bytes = 4.3e6;  // UCX's
  const int ranks = std::max(1, std::atoi(value_of("MPI_LOCALNRANKS").c_str()));
  struct statvfs room {};
  if (::statvfs("/dev/shm", &room) == 0) {
    const double unit = static_cast<double>(room.f_frsize);
    const double free = unit * static_cast<double>(room.f_bavail);
    if ((room.f_flag & ST_RDONLY) != 0)
      return fmt::format("/dev/shm is mounted read-only: {}", writable);
    if (::access("/dev/shm", W_OK) != 0)
      return "/dev/shm may not be written by this user: chmod 1777 /dev/shm";
    if (room.f_blocks != 0 && free < ranks * rank_bytes)
      return fmt::format("/dev/shm has {:.0f} B free of {:.0f} B, and {} ranks take {:.0f} B: {}",
                         free, unit * static_cast<double>(room.f_blocks), ranks, ranks * rank_bytes,
                         writable);
  }
  const std::string mine = text_of("/proc/self/uid_map");
  const std::string launchers = text_of(fmt::format("/proc/{}/uid_map", ::getppid()));
  if (mine.empty() || launchers.empty() || mine == launchers) return {};
  return "this rank has a user namespace of its own: start mpirun inside the container";
}

// MPICH ends all ranks within MPI_Init, with words of UCX alone. First one of each host says more.
void warn_of_mpich() {
  const std::string local = value_of("MPI_LOCALRANKID");
  if (!library_version().starts_with("MPICH") || (local != "0" && !local.empty())) return;
  if (const std::string trouble = shared_memory_trouble(); !trouble.empty())
    print_error(
        fmt::format("{}: if MPI_Init fails: {}, or set UCX_TLS=self,tcp\n", CCL_MPI_NAME, trouble));
}
#endif

constexpr struct {
  std::string_view option, name;
  int level;
} levels[] = {{"single", "MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"funneled", "MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"serialized", "MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"multiple", "MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

int level_of(std::string_view option) {
  for (const auto& known : levels)
    if (known.option == option) return known.level;
  throw UsageError(fmt::format("--mpi-thread: '{}' is not a level", option));
}

std::string_view name_of(int level) {
  for (const auto& known : levels)
    if (known.level == level) return known.name;
  return "an unknown level";
}

}  // namespace

void fail(int status, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw Error(fmt::format("mpi: {}: {}", call, text.data()));
}

void start(const std::string& thread_level) {
  int started = 0;
  check(MPI_Initialized(&started), "MPI_Initialized");
  if (started != 0) return;
  refuse_step_without_pmi();
  const int wanted = thread_level.empty()
                         ? (all_on_one_host() ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED)
                         : level_of(thread_level);
#ifndef SMPI_H
  warn_of_mpich();
#endif
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
#ifndef SMPI_H  // a simulator runs all of a rank on one thread
  if (provided < wanted)
    throw Unsupported(fmt::format("--mpi-thread: this MPI library offers {} at most, not {}",
                                  name_of(provided), name_of(wanted)));
#endif
}

std::string thread_level() {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  return std::string(name_of(provided));
}

void finish() {
  int started = 0;
  int finished = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  if (started != 0 && finished == 0) check(MPI_Finalize(), "MPI_Finalize");
}

std::string from_process_0(const std::string& bytes, int processes) {
  start();
  int rank = 0, world = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
  if (world > processes)  // of which no variable has told
    throw Error(fmt::format(
        "the launcher's variables say {} process{}, but MPI says that its world has {}; give every "
        "process RANK (here {}), WORLD_SIZE={} and MASTER_ADDR (rank 0's host), or say --launcher "
        "local to run alone",
        processes, processes == 1 ? "" : "es", world, rank, world));
  if (world < processes)
    throw Error(fmt::format(
        "the launcher's variables say {} processes, but MPI says that its world has {}: they were "
        "left over or set by hand, or the launcher is another MPI's; start it with this library's "
        "mpirun, or srun --mpi=pmix",
        processes, world));
  int length = static_cast<int>(bytes.size());
  check(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  std::string result = rank == 0 ? bytes : std::string(static_cast<std::size_t>(length), '\0');
  check(MPI_Bcast(result.data(), length, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return result;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // Open MPI writes "Open MPI v4.1.4, package: ...", MPICH a page of name: value lines.
  std::string line;
  for (const char c : std::string(text.data(), static_cast<std::size_t>(length))) {
    const bool has_number = line.find_first_of("0123456789") != std::string::npos;
    if (has_number && (c == '\n' || c == ',')) break;
    line += c == '\n' || c == '\t' ? ' ' : c;
  }
  return line;
}

std::string library_file() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&MPI_Init), &info);
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

// MPIX_Query_cuda_support is Open MPI's and MPICH's extension: not every build has it.
bool cuda_aware() {
  int started = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || started == 0) return false;  // MPICH would abort
  // MPICH 3 aborts where it was built without GPUs: 3.4.1 of Debian 11 does.
  if (library_version().starts_with("MPICH Version: 3")) return false;
  void* const library = dlopen(library_file().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto query = reinterpret_cast<int (*)()>(dlsym(library, "MPIX_Query_cuda_support"));
  const bool aware = query != nullptr && query() == 1;
  dlclose(library);
  return aware;
}

}  // namespace ccl_tests::mpi_module
