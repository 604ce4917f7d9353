#include "src/backends/nccl/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

#include "src/core/error.hpp"

namespace ccl_tests::nccl_module {
namespace {

Api find(const std::string& file) {
  const char* const name = file.empty() ? "libnccl.so.2" : file.c_str();
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(fmt::format(
        "NCCL cannot be loaded: {} (install libnccl2, set LD_LIBRARY_PATH, or say --library FILE)",
        dlerror()));
  Api a(library);
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(a.get_version), &info);
  a.file = info.dli_fname != nullptr ? info.dli_fname : name;
  check(a.get_version(&a.version), "ncclGetVersion");
  return a;
}

std::optional<Api>& loaded() {
  static std::optional<Api> api;
  return api;
}

}  // namespace

Function Api::optional(const char* name) const { return {dlsym(library, name)}; }

Function Api::required(const char* name) const {
  const Function found = optional(name);
  if (found.address == nullptr)
    throw Error(fmt::format("NCCL: the library found has no {}: {}", name, dlerror()));
  return found;
}

void load(const std::string& file) {
  if (!loaded()) loaded() = find(file);
}

const Api& api() { return *loaded(); }

std::string dotted(int version) {
  const int major = version < 10000 ? version / 1000 : version / 10000;
  const int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  return fmt::format("{}.{}.{}", major, minor, version % 100);
}

std::string error_text(ncclResult_t result, const char* what, ncclComm_t comm) {
  if (!loaded()) return fmt::format("NCCL: {}: error {}", what, static_cast<int>(result));
  const char* const last = api().last_error != nullptr ? api().last_error(comm) : nullptr;
  return fmt::format("NCCL: {}: {}{}{}", what, api().error_string(result),
                     last != nullptr && *last != '\0' ? ": " : "", last != nullptr ? last : "");
}

void check(ncclResult_t result, const char* what, ncclComm_t comm) {
  if (result != ncclSuccess) throw Error(error_text(result, what, comm));
}

}  // namespace ccl_tests::nccl_module
