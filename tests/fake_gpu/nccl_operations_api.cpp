#include <cstring>

#include "tests/fake_gpu/nccl_group.hpp"

namespace fake_gpu {
namespace {

bool fp8(ncclDataType_t type) { return type == ncclFloat8e4m3 || type == ncclFloat8e5m2; }

ncclResult_t check_buffer(const Communicator& communicator, const void* at, std::size_t bytes,
                          const char* what) {
  if (bytes == 0) return ncclSuccess;
  if (at == nullptr) return refuse(ncclInvalidArgument, std::string(what) + " is NULL");
  cudaPointerAttributes attributes{};
  const auto error = cudaPointerGetAttributes(&attributes, at);
  if (error != cudaSuccess) return refuse(ncclUnhandledCudaError, cudaGetErrorString(error));
  if (attributes.type == cudaMemoryTypeDevice && attributes.device == communicator.device()) {
    return ncclSuccess;
  }
  return refuse(ncclInvalidArgument, std::string(what) + " is not memory of device " +
                                         std::to_string(communicator.device()) +
                                         ", which the communicator uses");
}

// What one rank's call touches, in elements.
struct Extent {
  std::size_t send, recv;
};

Extent extent(const Request& request, const Communicator& communicator) {
  const std::size_t one = request.count;
  const std::size_t all = one * static_cast<std::size_t>(communicator.ranks());
  const bool root = request.root == communicator.rank();
  switch (request.kind) {
    case Kind::all_reduce: return {one, one};
    case Kind::reduce: return {one, root ? one : 0};
    case Kind::broadcast: return {root ? one : 0, one};
    case Kind::all_gather: return {one, all};
    case Kind::reduce_scatter: return {all, one};
    case Kind::alltoall: return {all, all};
    case Kind::gather: return {one, root ? all : 0};
    case Kind::scatter: return {root ? all : 0, one};
    case Kind::send: return {one, 0};
    case Kind::recv: return {0, one};
  }
  return {0, 0};
}

ncclResult_t check_device(const Communicator& communicator, ncclDataType_t type) {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, communicator.device());
  if (!fp8(type) || major >= 9) return ncclSuccess;
  return refuse(ncclInvalidArgument, "FP8 support begins with sm90 capable devices.");
}

ncclResult_t check(const Communicator& communicator, const Request& request) {
  if (request.type < ncclInt8 || request.type >= ncclNumTypes) {
    return refuse(ncclInvalidArgument, "invalid type " + std::to_string(request.type));
  }
  if (request.root < 0 || request.root >= communicator.ranks()) {
    return refuse(ncclInvalidArgument, "invalid root or peer " + std::to_string(request.root));
  }
  if (const auto result = check_device(communicator, request.type); result != ncclSuccess) {
    return result;
  }
  const auto touched = extent(request, communicator);
  const std::size_t width = bytes_of(request.type);
  const auto send = check_buffer(communicator, request.send, touched.send * width, "sendbuff");
  if (send != ncclSuccess) return send;
  return check_buffer(communicator, request.recv, touched.recv * width, "recvbuff");
}

// ncclLaunchOneRank of NCCL 2.24 to 2.32 has no PreMulSum of fp8, which avg is there, too.
ncclResult_t check_one_rank(const Communicator& communicator, const Request& request) {
  const int op = request.reduction.op;
  if (communicator.ranks() > 1 || !fp8(request.type) || (op != ncclAvg && op != ncclNumOps))
    return ncclSuccess;
  return refuse(ncclInvalidArgument, "one rank has no PreMulSum of fp8");
}

// Of calls that need a communicator which is ready for them.
ncclResult_t ready(const std::shared_ptr<Communicator>& communicator) {
  if (!communicator) return refuse(ncclInvalidArgument, "the communicator is none");
  if (communicator->in_progress()) {
    return refuse(ncclInvalidArgument,
                  "the communicator is used before its previous operation returned ncclSuccess");
  }
  if (communicator->finalized) return refuse(ncclInvalidUsage, "the communicator was finalized");
  return communicator->error();
}

ncclResult_t enqueue(ncclComm_t comm, cudaStream_t stream, Kind kind, const void* send, void* recv,
                     std::size_t count, ncclDataType_t type, int root_or_peer,
                     ncclRedOp_t op = ncclSum) {
  Request request{kind, send, recv, count, type, root_or_peer, {}};
  const auto communicator = communicators().find(comm);
  auto result = ready(communicator);
  if (result == ncclSuccess) result = communicator->take_memory();
  if (result == ncclSuccess) result = check(*communicator, request);
  if (result == ncclSuccess) {
    const auto reduction = communicator->reduction(op, request.type);
    if (reduction) {
      request.reduction = *reduction;
      result = check_one_rank(*communicator, request);
    } else {
      result = refuse(ncclInvalidArgument, "invalid reduction operation " + std::to_string(op));
    }
  }
  auto& group = Group::of_thread();
  if (result == ncclSuccess) result = group.add(Issue{communicator, stream, request});
  return group.note(result);
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::enqueue;
using fake_gpu::Group;
using fake_gpu::Kind;
using fake_gpu::refuse;

extern "C" {

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::all_reduce, send, recv, count, type, 0, op);
}

ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::reduce, send, recv, count, type, root, op);
}

ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::broadcast, send, recv, count, type, root);
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void* send, void* recv, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::all_gather, send, recv, count, type, 0);
}

ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::reduce_scatter, send, recv, count, type, 0, op);
}

ncclResult_t ncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::alltoall, send, recv, count, type, 0);
}

ncclResult_t ncclGather(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::gather, send, recv, count, type, root);
}

ncclResult_t ncclScatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::scatter, send, recv, count, type, root);
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return enqueue(comm, stream, Kind::send, send, nullptr, count, type, peer);
}

ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return enqueue(comm, stream, Kind::recv, nullptr, recv, count, type, peer);
}

ncclResult_t ncclGroupStart() {
  Group::of_thread().begin();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() { return Group::of_thread().end(); }

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  const auto communicator = fake_gpu::communicators().find(comm);
  if (const auto result = fake_gpu::ready(communicator); result != ncclSuccess) return result;
  if (op == nullptr || scalar == nullptr || type < ncclInt8 || type >= ncclNumTypes) {
    return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: op, scalar or datatype");
  }
  fake_gpu::Reduction made{ncclNumOps, 0, nullptr, type};
  if (residence == ncclScalarHostImmediate) {
    std::memcpy(&made.scalar, scalar, fake_gpu::bytes_of(type));
  } else {
    const auto result =
        fake_gpu::check_buffer(*communicator, scalar, fake_gpu::bytes_of(type), "scalar");
    if (result != ncclSuccess) return result;
    made.device_scalar = scalar;
  }
  *op = communicator->add_reduction(made);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  const auto communicator = fake_gpu::communicators().find(comm);
  if (!communicator || !communicator->remove_reduction(op)) {
    return refuse(ncclInvalidArgument, "ncclRedOpDestroy: op or communicator");
  }
  return ncclSuccess;
}

}  // extern "C"
