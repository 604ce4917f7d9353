#include "src/backends/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "src/core/error.hpp"

#ifndef CCL_MPI_FOLDERS  // of the MPIs that CMake found, separated by colons
#define CCL_MPI_FOLDERS ""
#endif

namespace ccl_tests {
namespace {

namespace fs = std::filesystem;

// A module and a library's name (DT_SONAME) that promises the module's ABI.
struct Abi {
  std::string_view module;
  const char* library;
};
constexpr std::array abis = {
    Abi{"mpi-openmpi", "libmpi.so.40"}, Abi{"mpi-mpich", "libmpi.so.12"},
    Abi{"mpi-mpich", "libmpich.so.12"}, Abi{"mpi-mpich", "libmpi_cray.so.12"},
    Abi{"mpi-abi", "libmpi_abi.so.1"},
};

std::vector<Abi> abis_of(const std::vector<std::string>& modules) {
  std::vector<Abi> result;
  for (const std::string& module : modules)
    std::copy_if(abis.begin(), abis.end(), std::back_inserter(result),
                 [&](const Abi& abi) { return abi.module == module; });
  return result;
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// RTLD_GLOBAL: modules, and MPI's own plugins, find its functions.
bool load(const fs::path& library, int more = 0) {
  return dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL | more) != nullptr;
}

// Returns the module of the library that was loaded out of `folders`, a list with colons.
std::string load_from(const std::string& folders, const std::vector<Abi>& wanted) {
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    for (const Abi& abi : wanted)
      if (const fs::path file = fs::path(folder) / abi.library;
          !folder.empty() && is_there(file) && load(file))
        return std::string(abi.module);
  return {};
}

pid_t parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

// Returns the names of the libraries that `wanted` takes.
std::string names_of(const std::vector<Abi>& wanted) {
  std::vector<std::string_view> names;
  for (const Abi& abi : wanted) names.emplace_back(abi.library);
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

std::string mpi_module_of(const fs::path& module_file) {
  const std::string name = module_file.filename().string();
  for (const Abi& abi : abis)
    if (name.starts_with(fmt::format("ccl-{}", abi.module))) return std::string(abi.module);
  return {};
}

std::vector<std::string> mpi_libraries_of(const fs::path& launcher) {
  if (launcher.empty()) return {};
  const fs::path lib = launcher.parent_path().parent_path() / "lib";
  std::vector<fs::path> folders = {lib, lib.string() + "64", lib / "release"};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(lib, none))  // Debian's: lib/x86_64-linux-gnu
    if (entry.path().string().ends_with("-linux-gnu")) folders.push_back(entry.path());
  std::vector<std::string> libraries;
  std::set<fs::path> seen;  // lib64 may be a link to lib
  for (const fs::path& folder : folders) {
    if (!seen.insert(fs::weakly_canonical(folder, none)).second) continue;
    for (const Abi& abi : abis)
      if (is_there(folder / abi.library)) libraries.push_back((folder / abi.library).string());
  }
  return libraries;
}

fs::path mpi_launcher() {
  for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
    std::error_code none;
    fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), none);
    for (const char* const name : {"mpirun", "mpiexec", "hydra", "orted", "orterun", "prte"})
      if (program.filename().string().starts_with(name)) return program;
  }
  return {};
}

std::string load_mpi(const std::string& asked, const std::vector<std::string>& modules,
                     const fs::path& launcher) {
  const std::vector<Abi> wanted = abis_of(modules);
  for (const Abi& abi : abis) {
    if (!load(abi.library, RTLD_NOLOAD)) continue;
    if (std::find(modules.begin(), modules.end(), abi.module) != modules.end())
      return std::string(abi.module);
    throw Unsupported(
        fmt::format("--backend {}: this process has loaded {} already, and a process has one MPI; "
                    "use --backend {} and that MPI's mpirun, or leave --library and LD_PRELOAD out",
                    asked, abi.library, abi.module));
  }
  // Open MPI 5 tells the folder of its library: PRRTE, which starts the processes, may lie elsewhere.
  for (const char* const variable : {"LD_LIBRARY_PATH", "OMPI_LIBDIR_LOC"}) {
    const char* const folders = std::getenv(variable);
    if (std::string module = load_from(folders != nullptr ? folders : "", wanted); !module.empty())
      return module;
  }

  if (const std::vector<std::string> libraries = mpi_libraries_of(launcher); !libraries.empty()) {
    std::string why;
    for (const Abi& abi : wanted)
      for (const std::string& library : libraries) {
        if (fs::path(library).filename() != abi.library) continue;
        if (load(library)) return std::string(abi.module);
        why = fmt::format(" ({})", dlerror());
      }
    throw Unsupported(fmt::format(
        "--backend {}: the MPI of {} is {}, but {} is needed{}; use the mpirun of the MPI that is "
        "to be measured, --backend mpi, or --library FILE",
        asked, launcher.string(), fmt::join(libraries, ", "), names_of(wanted), why));
  }
  if (std::string module = load_from(CCL_MPI_FOLDERS, wanted); !module.empty()) return module;
  for (const Abi& abi : wanted)
    if (load(abi.library)) return std::string(abi.module);
  throw Unsupported(
      fmt::format("--backend {}: there is no {} here; install MPI, set LD_LIBRARY_PATH to its "
                  "folder (module load), or name it by --library FILE",
                  asked, names_of(wanted)));
}

std::string launchers_other_mpi(const fs::path& library, const std::string& module) {
  const std::vector<std::string> libraries = mpi_libraries_of(mpi_launcher());
  std::string other;
  for (const std::string& file : libraries) {
    std::error_code none;
    if (fs::equivalent(library, file, none)) return {};
    for (const Abi& abi : abis)
      if (other.empty() && (abi.module == module || abi.module == "mpi-abi") &&
          fs::path(file).filename() == abi.library)
        other = file;
  }
  return other;
}

}  // namespace ccl_tests
