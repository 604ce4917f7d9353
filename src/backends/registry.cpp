#include "src/backends/registry.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "src/backends/loopback.hpp"
#include "src/backends/mpi_library.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

struct Known {
  std::string_view name;
  std::string_view package, option;  // that make it available; no package: it needs none
};
constexpr std::array known_modules = {
    Known{"gloo", "the package libgloo-dev", "CCL_GLOO"},
    Known{"mpi-openmpi", "the package libopenmpi-dev", "CCL_OPENMPI"},
    Known{"mpi-mpich", "the package libmpich-dev", "CCL_MPICH"},
    Known{"mpi-abi", "", "CCL_MPI_ABI"},
    Known{"nccl", "the CUDA toolkit and NCCL (libnccl-dev)", "CCL_NCCL"},
};

// Returns ccl-tests/ beside the shared library that holds this code.
std::filesystem::path module_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&module_folder), &info);
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path() / "ccl-tests";
}

std::filesystem::path module_path(std::string_view name) {
  return module_folder() / fmt::format("ccl-{}.so", name);
}

bool is_here(std::string_view module) { return std::filesystem::exists(module_path(module)); }

// RTLD_LOCAL: two modules may bring two versions of one library. A module is never closed: its code
// may be on a thread's stack until the process ends. what: the symbol that it exports, beside the
// ABI.
void* open_symbol(const std::filesystem::path& path, const char* what) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(fmt::format("cannot open module {}: {}", path.string(), dlerror()));
  const auto abi = reinterpret_cast<ModuleAbi>(dlsym(handle, "ccl_module_abi"));
  void* const symbol = dlsym(handle, what);
  if (abi == nullptr || symbol == nullptr)
    throw Error(fmt::format("{} is no ccl-tests module: it lacks ccl_module_abi or {}",
                            path.string(), what));
  if (abi() != module_abi)
    throw Error(fmt::format("module {} was built for module ABI {}, this is {}", path.string(),
                            abi(), module_abi));
  return symbol;
}

// Returns the symbol of a module. Throws Unsupported with what brings the module if it is not
// there.
void* symbol_of(std::string_view module, const char* symbol, std::string_view needed_by,
                std::string_view brings) {
  if (is_here(module)) return open_symbol(module_path(module), symbol);
  throw Unsupported(
      fmt::format("{}: no module {}: {}", needed_by, module_path(module).string(), brings));
}

BackendPtr open_module(const std::filesystem::path& path) {
  const auto backend = reinterpret_cast<ModuleBackend>(open_symbol(path, "ccl_module_backend"));
  return {backend(), [](const Backend*) {}};
}

using Names = std::vector<std::string>;

// Returns the modules of MPI that are there, the one for the launcher's MPI first. launchers: that
// one. Empty if the launcher does not tell: Slurm's PMI-2 serves MPICH, everything else is made for
// Open MPI first.
Names mpi_modules(const std::string& launchers) {
  const bool pmi2 = std::getenv("PMI_RANK") != nullptr && std::getenv("PMIX_RANK") == nullptr;
  Names modules = !launchers.empty() ? Names{launchers, "mpi-abi"}
                  : pmi2             ? Names{"mpi-mpich", "mpi-abi", "mpi-openmpi"}
                                     : Names{"mpi-openmpi", "mpi-mpich", "mpi-abi"};
  std::erase_if(modules, [](const std::string& name) { return !is_here(name); });
  return modules;
}

// Opens a module of MPI, whose library is loaded first. launchers: the module for the MPI whose
// mpirun started this process. Empty if no mpirun did.
BackendPtr open_mpi(const std::string& asked, const Names& modules, const std::string& launchers,
                    const std::filesystem::path& file = {}) {
  const std::string module =
      load_mpi(asked, modules, launchers.empty() ? std::filesystem::path() : mpi_launcher());
  return open_module(file.empty() ? module_path(module) : file);
}

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

constexpr std::string_view nvidia_vendor = "0x10de";
constexpr std::string_view display_class = "0x03";  // 0x0300 VGA, 0x0302 3D controller

std::optional<std::string> value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string set_to(const char* variable, const std::string& value) {
  return std::string(variable) + " is set to '" + value + "'";
}

// Launchers' ways to say that a job has no GPU. A list that begins with -1 is empty, too.
bool hides_all(const std::string& devices) {
  return devices.empty() || devices.starts_with("-1") || devices == "NoDevFiles" ||
         devices == "none" || devices == "void";
}

[[noreturn]] void refuse(const std::string& name) {
  for (const Known& module : known_modules) {
    if (module.name != name) continue;
    const std::string install =
        module.package.empty() ? "" : fmt::format("install {}, ", module.package);
    throw Unsupported(fmt::format(
        "--backend {}: no module {}: {}configure with -D{}=ON and build (target modules)", name,
        module_path(name).string(), install, module.option));
  }
  if (name.starts_with("gloo-"))
    throw Unsupported(fmt::format(
        "--backend {}: no module {}: configure with -DCCL_GLOO_SOURCE=CHECKOUT_OF_GLOO and build "
        "(target modules)",
        name, module_path(name).string()));
  if (name == "mpi")
    throw Unsupported(
        "--backend mpi: no MPI module in " + module_folder().string() +
        ": install the package libopenmpi-dev or libmpich-dev, configure with -DCCL_OPENMPI=ON or "
        "-DCCL_MPICH=ON, and build (target modules)");
  Names accepted = {"auto"};
  for (const Known& module : known_modules)
    if (is_here(module.name)) accepted.emplace_back(module.name);
  for (const std::string& module : dated_gloos()) accepted.push_back(module);
  if (is_here("mpi-openmpi") || is_here("mpi-mpich")) accepted.emplace_back("mpi");
  accepted.emplace_back("loopback");
  throw UsageError(
      fmt::format("--backend: {}, or a path to a module", unknown_name("backend", name, accepted)));
}

}  // namespace

std::optional<std::string> gpu_evidence(const std::string& root) {
  if (const auto devices = value_of("CUDA_VISIBLE_DEVICES"))
    return hides_all(*devices) ? std::nullopt
                               : std::optional(set_to("CUDA_VISIBLE_DEVICES", *devices));
  // Images set this to "all", whether there is a GPU or not.
  if (const auto devices = value_of("NVIDIA_VISIBLE_DEVICES"); devices && hides_all(*devices))
    return std::nullopt;
  for (const char* const variable : {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS"})
    if (const auto devices = value_of(variable); devices && !hides_all(*devices))
      return set_to(variable, *devices);
  std::error_code none;
  for (const auto& device :
       std::filesystem::directory_iterator(root + "/sys/bus/pci/devices", none)) {
    const bool nvidia = first_word(device.path() / "vendor") == nvidia_vendor;
    if (nvidia && first_word(device.path() / "class").starts_with(display_class))
      return "PCI device " + device.path().filename().string() + " is an NVIDIA GPU";
  }
  // Device files of NVIDIA's driver, and of its Windows driver below WSL: virtual machines without
  // PCI in sysfs have these alone.
  for (const char* const file : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"})
    if (std::filesystem::exists(root + file, none)) return std::string(file) + " is there";
  return std::nullopt;
}

std::vector<std::string> dated_gloos() {
  constexpr std::string_view prefix = "ccl-";
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(module_folder(), none)) {
    const std::string name = file.path().stem().string();
    if (name.starts_with("ccl-gloo-") && file.path().extension() == ".so")
      names.push_back(name.substr(prefix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

BackendPtr open_backend(const std::string& name, const std::string& mpi_module) {
  if (name == "mpi") {
    const Names modules = mpi_modules(mpi_module);
    if (modules.empty()) refuse(mpi_module.empty() ? name : mpi_module);
    const bool native = mpi_module.empty() || std::filesystem::exists(module_path(mpi_module));
    try {
      return open_mpi(name, modules, mpi_module);
    } catch (const Unsupported&) {
      if (native) throw;
    }
    refuse(mpi_module);  // the launcher's MPI has no standard ABI
  }
  if (name == "loopback") return std::make_shared<LoopbackBackend>();
  if (name.find('/') != std::string::npos) {
    if (!std::filesystem::exists(name))
      throw UsageError("--backend: there is no file " + name + "; accepted: the path of a module");
    if (const std::string module = mpi_module_of(name); !module.empty())
      return open_mpi(name, {module}, mpi_module, name);
    return open_module(name);
  }
  if (name == "auto") {
    if (const auto evidence = gpu_evidence()) {
      if (is_here("nccl")) return open_backend("nccl");
      throw Error(*evidence +
                  ", but this build has no NCCL module (configure with -DCCL_NCCL=ON); to test the "
                  "CPU side, or in a container without GPUs, say --backend gloo");
    }
    return open_backend("gloo");
  }
  if (!is_here(name)) refuse(name);
  if (name.starts_with("mpi-")) return open_mpi(name, {name}, mpi_module);
  return open_module(module_path(name));
}

BackendPtr open_backend_with(const std::string& file, const std::string& name,
                             const std::string& mpi_module) {
  std::error_code none;
  const auto wanted = std::filesystem::canonical(file, none);
  if (none)
    throw UsageError("--library: there is no file " + file + "; accepted: a library's path");
  // A module of MPI takes what is loaded; one that is linked to its library, if the names agree.
  if (dlopen(wanted.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw Error(fmt::format("--library: cannot load {}: {}", file, dlerror()));
  BackendPtr backend = open_backend(name, mpi_module);
  if (backend->open_library(wanted.string())) return backend;
  const auto loaded = std::filesystem::canonical(backend->info().library, none);
  if (loaded != wanted)
    throw Error(fmt::format("--library: {} is not the library that module {} uses, which is {}",
                            file, backend->name(), backend->info().library));
  return backend;
}

const Devices& open_gpus() {
  return *reinterpret_cast<ModuleDevices>(symbol_of(
      "cuda", "ccl_module_devices", "GPUs",
      "install the CUDA toolkit, configure with -DCCL_CUDA=ON and build (target modules)"))();
}

std::vector<CpuCore> cpu_topology() {
  std::vector<CpuCore> cores;
  reinterpret_cast<ModuleCores>(symbol_of(
      "hwloc", "ccl_module_cores", "--bind",
      "install the package libhwloc-dev, configure and build again, or leave --bind out"))(cores);
  return cores;
}

}  // namespace ccl_tests
