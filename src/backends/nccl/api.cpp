#include "src/backends/nccl/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

#include "src/core/error.hpp"

namespace ccl_tests::nccl_module {
namespace {

template <class F>
void find_newer(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

template <class F>
void required(void* library, const char* name, F& function) {
  find_newer(library, name, function);
  if (function == nullptr)
    throw Error(fmt::format("NCCL: the library found has no {}: {}", name, dlerror()));
}

Api find(const std::string& file) {
  const char* const name = file.empty() ? "libnccl.so.2" : file.c_str();
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(fmt::format(
        "NCCL cannot be loaded: {} (install libnccl2, set LD_LIBRARY_PATH, or say --library FILE)",
        dlerror()));
  Api a;
  required(library, "ncclGetVersion", a.get_version);
  required(library, "ncclGetErrorString", a.error_string);
  find_newer(library, "ncclGetLastError", a.last_error);
  required(library, "ncclGetUniqueId", a.unique_id);
  required(library, "ncclCommInitRankConfig", a.init);
  find_newer(library, "ncclCommSplit", a.split);
  required(library, "ncclCommDestroy", a.destroy);
  required(library, "ncclCommAbort", a.abort);
  required(library, "ncclCommGetAsyncError", a.async_error);
  required(library, "ncclCommCount", a.count);
  required(library, "ncclCommUserRank", a.user_rank);
  required(library, "ncclAllReduce", a.all_reduce);
  required(library, "ncclReduce", a.reduce);
  required(library, "ncclBroadcast", a.broadcast);
  required(library, "ncclAllGather", a.all_gather);
  required(library, "ncclReduceScatter", a.reduce_scatter);
  required(library, "ncclSend", a.send);
  required(library, "ncclRecv", a.recv);
  required(library, "ncclGroupStart", a.group_start);
  required(library, "ncclGroupEnd", a.group_end);
  required(library, "ncclRedOpCreatePreMulSum", a.create_pre_mul_sum);
  required(library, "ncclRedOpDestroy", a.destroy_op);
  find_newer(library, "ncclMemAlloc", a.mem_alloc);
  find_newer(library, "ncclMemFree", a.mem_free);
  find_newer(library, "ncclCommRegister", a.reg);
  find_newer(library, "ncclCommDeregister", a.unreg);
  find_newer(library, "ncclCommWindowRegister", a.window);
  find_newer(library, "ncclCommWindowDeregister", a.close_window);
  find_newer(library, "ncclAlltoAll", a.alltoall);
  find_newer(library, "ncclGather", a.gather);
  find_newer(library, "ncclScatter", a.scatter);
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
