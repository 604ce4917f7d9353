// The functions of the NCCL that was found at run time. Those that not every version has may be
// null.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>

#include "src/devices/cuda/device.hpp"

namespace ccl_tests::nccl_module {

struct Api {
  std::string file;
  int version = 0;  // NCCL_VERSION_CODE of what was found

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  const char* (*last_error)(ncclComm_t) = nullptr;  // 2.13
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommSplit) split = nullptr;  // 2.18
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclCommCount) count = nullptr;
  decltype(&ncclCommUserRank) user_rank = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclRedOpCreatePreMulSum) create_pre_mul_sum = nullptr;
  decltype(&ncclRedOpDestroy) destroy_op = nullptr;
  decltype(&ncclMemAlloc) mem_alloc = nullptr;                 // 2.19
  decltype(&ncclMemFree) mem_free = nullptr;                   // 2.19
  decltype(&ncclCommRegister) reg = nullptr;                   // 2.19
  decltype(&ncclCommDeregister) unreg = nullptr;               // 2.19
  decltype(&ncclCommWindowRegister) window = nullptr;          // 2.27
  decltype(&ncclCommWindowDeregister) close_window = nullptr;  // 2.27
  using AllToAll = ncclResult_t (*)(const void* send, void* recv, size_t count, ncclDataType_t,
                                    ncclComm_t, cudaStream_t);
  using Rooted = ncclResult_t (*)(const void* send, void* recv, size_t count, ncclDataType_t,
                                  int root, ncclComm_t, cudaStream_t);
  AllToAll alltoall = nullptr;  // 2.28
  Rooted gather = nullptr;      // 2.28
  Rooted scatter = nullptr;     // 2.28
};

// Loads `file`, or where it is empty libnccl.so.2 as the loader finds it; the first call counts. On
// the main thread. Throws Error.
void load(const std::string& file);

// Returns what load() has found.
const Api& api();

std::string dotted(int version);

// Returns what failed, with NCCL's own last words. comm: may be null.
std::string error_text(ncclResult_t result, const char* what, ncclComm_t comm);

// Throws Error with that.
void check(ncclResult_t result, const char* what, ncclComm_t comm = nullptr);

using cuda_module::check;  // CUDA's likewise

}  // namespace ccl_tests::nccl_module
