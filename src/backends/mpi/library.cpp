#include "src/backends/mpi/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "src/core/error.hpp"

namespace ccl_tests::mpi_module {
namespace {

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// srun --mpi=none gives a task neither PMIx nor PMI; MPI_Init then ends every task of the step.
void refuse_step_without_pmi() {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (!is_set("SLURM_PROCID") || tasks == nullptr || std::atoi(tasks) <= 1) return;
  if (is_set("PMIX_RANK") || is_set("PMI_RANK") || is_set("PMI_FD") ||
      is_set("OMPI_COMM_WORLD_RANK"))
    return;
  throw Unsupported(
      "this Slurm step offers MPI no way to start (no PMIX_RANK, no PMI_RANK); use srun "
      "--mpi=pmix, or mpirun inside the allocation, or --backend gloo");
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// As the launcher says: Open MPI's or Hydra's mpirun, or srun. A process without one is alone.
bool all_on_one_host() {
  if (is_set("OMPI_COMM_WORLD_SIZE"))
    return value_of("OMPI_COMM_WORLD_LOCAL_SIZE") == value_of("OMPI_COMM_WORLD_SIZE");
  if (is_set("MPI_LOCALNRANKS")) return value_of("MPI_LOCALNRANKS") == value_of("PMI_SIZE");
  if (is_set("SLURM_STEP_NUM_NODES")) return value_of("SLURM_STEP_NUM_NODES") == "1";
  return !is_set("PMI_SIZE") && !is_set("PMIX_RANK");
}

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
  int world = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
  if (world != processes)
    throw Error(fmt::format(
        "the launcher's variables say {} processes, but MPI says that its world has {}: they were "
        "left over or set by hand, or the launcher is another MPI's",
        processes, world));
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
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
