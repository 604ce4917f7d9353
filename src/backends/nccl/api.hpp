// The functions of the NCCL that was found at run time. Those that not every version has may be
// null.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>

#include "src/devices/cuda/device.hpp"

namespace ccl_tests::nccl_module {

// A function of the library, as a pointer of the type that is asked for.
struct Function {
  template <class F>
  operator F*() const {
    return reinterpret_cast<F*>(address);
  }
  void* address;
};

struct Api {
  explicit Api(void* opened) : library(opened) {}
  Function optional(const char* name) const;  // null if this version does not have it
  Function required(const char* name) const;  // throws Error if the library does not have it

  void* library;
  std::string file = {};
  int version = 0;  // NCCL_VERSION_CODE of what was found

  decltype(&ncclGetVersion) get_version = required("ncclGetVersion");
  decltype(&ncclGetErrorString) error_string = required("ncclGetErrorString");
  const char* (*last_error)(ncclComm_t) = optional("ncclGetLastError");  // 2.13
  decltype(&ncclGetUniqueId) unique_id = required("ncclGetUniqueId");
  decltype(&ncclCommInitRankConfig) init = required("ncclCommInitRankConfig");
  decltype(&ncclCommSplit) split = optional("ncclCommSplit");  // 2.18
  decltype(&ncclCommDestroy) destroy = required("ncclCommDestroy");
  decltype(&ncclCommAbort) abort = required("ncclCommAbort");
  decltype(&ncclCommGetAsyncError) async_error = required("ncclCommGetAsyncError");
  decltype(&ncclCommCount) count = required("ncclCommCount");
  decltype(&ncclCommUserRank) user_rank = required("ncclCommUserRank");
  decltype(&ncclAllReduce) all_reduce = required("ncclAllReduce");
  decltype(&ncclReduce) reduce = required("ncclReduce");
  decltype(&ncclBroadcast) broadcast = required("ncclBroadcast");
  decltype(&ncclAllGather) all_gather = required("ncclAllGather");
  decltype(&ncclReduceScatter) reduce_scatter = required("ncclReduceScatter");
  decltype(&ncclSend) send = required("ncclSend");
  decltype(&ncclRecv) recv = required("ncclRecv");
  decltype(&ncclGroupStart) group_start = required("ncclGroupStart");
  decltype(&ncclGroupEnd) group_end = required("ncclGroupEnd");
  decltype(&ncclRedOpCreatePreMulSum) create_pre_mul_sum = required("ncclRedOpCreatePreMulSum");
  decltype(&ncclRedOpDestroy) destroy_op = required("ncclRedOpDestroy");
  decltype(&ncclMemAlloc) mem_alloc = optional("ncclMemAlloc");                             // 2.19
  decltype(&ncclMemFree) mem_free = optional("ncclMemFree");                                // 2.19
  decltype(&ncclCommRegister) reg = optional("ncclCommRegister");                           // 2.19
  decltype(&ncclCommDeregister) unreg = optional("ncclCommDeregister");                     // 2.19
  decltype(&ncclCommWindowRegister) window = optional("ncclCommWindowRegister");            // 2.27
  decltype(&ncclCommWindowDeregister) close_window = optional("ncclCommWindowDeregister");  // 2.27
  using AllToAll = ncclResult_t (*)(const void* send, void* recv, size_t count, ncclDataType_t,
                                    ncclComm_t, cudaStream_t);
  using Rooted = ncclResult_t (*)(const void* send, void* recv, size_t count, ncclDataType_t,
                                  int root, ncclComm_t, cudaStream_t);
  AllToAll alltoall = optional("ncclAlltoAll");  // 2.28
  Rooted gather = optional("ncclGather");        // 2.28
  Rooted scatter = optional("ncclScatter");      // 2.28
};

// Loads `file`, or where it is empty libnccl.so.2 as the loader finds it; the first call counts. On
// the main thread. Throws Error.
void load(const std::string& file);

// Returns what load() has found.
const Api& api();

std::string dotted(int version);

// Returns what failed, with NCCL's own last words. comm: may be null.
std::string error_text(ncclResult_t result, const char* what, ncclComm_t comm);

// Returns what NCCL's RAS service knows of its communicators and of who is missing, in one line:
// ": NCCL's RAS says: ...". Empty if no service answers within 4.5 s. The service listens on
// NCCL_RAS_ADDR, localhost:28028 by default, from NCCL 2.24 on.
std::string ras_report();

// Throws Error with error_text().
void check(ncclResult_t result, const char* what, ncclComm_t comm = nullptr);

using cuda_module::check;  // CUDA's likewise

}  // namespace ccl_tests::nccl_module
