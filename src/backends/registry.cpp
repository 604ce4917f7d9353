#include "src/backends/registry.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "src/backends/gpu_evidence.hpp"
#include "src/backends/loopback.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

struct Known {
  std::string_view name;
  std::string_view brings;  // what makes it available
};
constexpr std::array known_modules = {
    Known{
        "gloo",
        "install the package libgloo-dev, configure with -DCCL_GLOO=ON and build (target modules)"},
    Known{
        "mpi-openmpi",
        "install the package libopenmpi-dev, configure with -DCCL_OPENMPI=ON and build (target modules)"},
    Known{
        "mpi-mpich",
        "install the package libmpich-dev, configure with -DCCL_MPICH=ON and build (target modules)"},
    Known{"nccl",
          "install the CUDA toolkit and NCCL (libnccl-dev), configure with -DCCL_NCCL=ON and build "
          "(target modules)"},
};
constexpr std::string_view cuda_brings =
    "install the CUDA toolkit, configure with -DCCL_CUDA=ON and build (target modules)";
constexpr std::string_view hwloc_brings =
    "install the package libhwloc-dev, configure and build again, or leave --bind out";

std::filesystem::path module_path(std::string_view name) {
  return std::filesystem::path(module_folder()) / fmt::format("ccl-{}.so", name);
}

// RTLD_LOCAL: two modules may bring two versions of one library. A module is never closed: its code
// may be on a thread's stack until the process ends. what: the symbol that it exports, beside the
// ABI.
void* open_symbol(const std::filesystem::path& path, const char* what) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(fmt::format("cannot open module {}: {}", path.string(), dlerror()));
  const auto abi = reinterpret_cast<ModuleAbi>(dlsym(handle, "ccl_module_abi"));
  void* const symbol = dlsym(handle, what);
  if (abi == nullptr || symbol == nullptr) {
    throw Error(fmt::format("{} is no ccl-tests module: it lacks ccl_module_abi or {}",
                            path.string(), what));
  }
  if (abi() != module_abi) {
    throw Error(fmt::format("module {} was built for module ABI {}, this is {}", path.string(),
                            abi(), module_abi));
  }
  return symbol;
}

BackendPtr open_module(const std::filesystem::path& path) {
  const auto backend = reinterpret_cast<ModuleBackend>(open_symbol(path, "ccl_module_backend"));
  return {backend(), [](const Backend*) {}};
}

using Names = std::vector<std::string>;

// Slurm's PMI-2 serves MPICH; everything else here is made for Open MPI first.
Names mpi_modules() {
  const bool pmi2 = std::getenv("PMI_RANK") != nullptr && std::getenv("PMIX_RANK") == nullptr;
  return pmi2 ? Names{"mpi-mpich", "mpi-openmpi"} : Names{"mpi-openmpi", "mpi-mpich"};
}

[[noreturn]] void refuse(const std::string& name) {
  for (const Known& module : known_modules) {
    if (module.name != name) continue;
    throw Unsupported(fmt::format("--backend {}: no module {}: {}", name,
                                  module_path(name).string(), module.brings));
  }
  if (name == "mpi") {
    throw Unsupported(
        "--backend mpi: no MPI module in " + module_folder() +
        ": install the package libopenmpi-dev or libmpich-dev, configure with -DCCL_OPENMPI=ON or "
        "-DCCL_MPICH=ON, and build (target modules)");
  }
  Names accepted = available_backends();
  accepted.insert(accepted.begin(), "auto");
  throw UsageError(
      fmt::format("--backend: {}, or a path to a module", unknown_name("backend", name, accepted)));
}

}  // namespace

std::string module_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&module_folder), &info);
  std::error_code ignored;
  const auto library = std::filesystem::canonical(info.dli_fname, ignored);
  return (library.parent_path() / "ccl-tests").string();
}

std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  for (const Known& module : known_modules) {
    if (std::filesystem::exists(module_path(module.name))) names.emplace_back(module.name);
  }
  if (std::any_of(names.begin(), names.end(),
                  [](const std::string& n) { return n.rfind("mpi-", 0) == 0; }))
    names.emplace_back("mpi");
  names.emplace_back("loopback");
  return names;
}

std::vector<std::string> known_backends() {
  std::vector<std::string> names = {"auto", "loopback", "mpi"};
  for (const Known& module : known_modules) names.emplace_back(module.name);
  return names;
}

BackendPtr open_backend(const std::string& name, const std::string& mpi_module) {
  if (name == "mpi") {
    for (const std::string& module : mpi_module.empty() ? mpi_modules() : Names{mpi_module}) {
      if (!mpi_module.empty() || std::filesystem::exists(module_path(module)))
        return open_backend(module);
    }
    refuse(name);
  }
  if (name == "loopback") return std::make_shared<LoopbackBackend>();
  if (name.find('/') != std::string::npos) {
    if (!std::filesystem::exists(name))
      throw UsageError("--backend: there is no file " + name + "; accepted: the path of a module");
    return open_module(name);
  }
  if (name == "auto") {
    if (const auto evidence = gpu_evidence()) {
      if (std::filesystem::exists(module_path("nccl"))) return open_backend("nccl");
      throw Error(*evidence +
                  ", but this build has no NCCL module (configure with -DCCL_NCCL=ON); to test the "
                  "CPU side, or in a container without GPUs, say --backend gloo");
    }
    return open_backend("gloo");
  }
  if (!std::filesystem::exists(module_path(name))) refuse(name);
  return open_module(module_path(name));
}

BackendPtr open_backend_with(const std::string& file, const std::string& name,
                             const std::string& mpi_module) {
  std::error_code none;
  const auto wanted = std::filesystem::canonical(file, none);
  if (none)
    throw UsageError("--library: there is no file " + file + "; accepted: a library's path");
  // A module that is linked to its library finds it loaded already, when the names agree.
  if (dlopen(wanted.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw Error(fmt::format("--library: cannot load {}: {}", file, dlerror()));
  BackendPtr backend = open_backend(name, mpi_module);
  if (backend->open_library(wanted.string())) return backend;
  const auto loaded = std::filesystem::canonical(backend->info().library, none);
  if (loaded != wanted) {
    throw Error(
        fmt::format("--library: {} is not the library that module {} is linked to, which is {}",
                    file, backend->name(), backend->info().library));
  }
  return backend;
}

const Devices& open_gpus() {
  const auto path = module_path("cuda");
  if (!std::filesystem::exists(path)) {
    throw Unsupported(fmt::format("GPUs: no module {}: {}", path.string(), cuda_brings));
  }
  return *reinterpret_cast<ModuleDevices>(open_symbol(path, "ccl_module_devices"))();
}

std::vector<CpuCore> cpu_topology() {
  const auto path = module_path("hwloc");
  if (!std::filesystem::exists(path)) {
    throw Unsupported(fmt::format("--bind: no module {}: {}", path.string(), hwloc_brings));
  }
  std::vector<CpuCore> cores;
  reinterpret_cast<ModuleCores>(open_symbol(path, "ccl_module_cores"))(cores);
  return cores;
}

}  // namespace ccl_tests
