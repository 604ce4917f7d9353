#include <sys/random.h>

#include <chrono>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/fake_gpu/nccl_group.hpp"

namespace fake_gpu {
namespace {

constexpr char prefix[] = "/fake-nccl-";

ncclComm_t handle_of(const std::shared_ptr<Communicator>& communicator) {
  return static_cast<ncclComm_t>(communicators().add(communicator));
}

// Takes a communicator that a blocking call could not make away again.
std::function<void(ncclResult_t)> withdrawing(ncclComm_t* into, ncclComm_t handle) {
  return [into, handle](ncclResult_t result) {
    if (result == ncclSuccess || result == ncclInProgress) return;
    if (const auto failed = communicators().remove(handle)) last_message() = failed->message();
    *into = nullptr;
  };
}

// config: null, or what NCCL_CONFIG_INITIALIZER began.
bool valid(const ncclConfig_t* config) {
  return config == nullptr || (config->magic == 0xcafebeef && config->size > 0);
}

bool blocking(const ncclConfig_t* config, bool otherwise) {
  if (config == nullptr || config->blocking == NCCL_CONFIG_UNDEF_INT) return otherwise;
  return config->blocking != 0;
}

ncclResult_t init(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank,
                  const ncclConfig_t* config) {
  if (comm == nullptr || !valid(config)) return refuse(ncclInvalidArgument, "comm or config");
  *comm = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return refuse(ncclInvalidArgument,
                  "invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  }
  if (std::strncmp(id.internal, prefix, sizeof prefix - 1) != 0 ||
      std::memchr(id.internal, 0, sizeof id.internal) == nullptr) {
    return refuse(ncclInvalidArgument, "the unique id is not ncclGetUniqueId's");
  }
  int device = 0;
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess) error = cudaGetDevice(&device);
  if (error != cudaSuccess) return refuse(ncclUnhandledCudaError, cudaGetErrorString(error));
  const auto made = std::make_shared<Communicator>(device, blocking(config, true));
  made->place(id.internal, rank, ranks);
  *comm = handle_of(made);
  return Group::of_thread().add(
      Job{{made}, made->blocking(), [made] { return made->join(); }, withdrawing(comm, *comm)});
}

ncclResult_t split(ncclComm_t comm, int color, int key, ncclComm_t* into,
                   const ncclConfig_t* config) {
  const auto parent = communicators().find(comm);
  if (!parent || into == nullptr || !valid(config) || parent->in_progress()) {
    return refuse(ncclInvalidArgument, "ncclCommSplit: communicator, newcomm or config");
  }
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) return refuse(ncclInvalidArgument, "color");
  if (const auto error = parent->error(); error != ncclSuccess) return error;
  *into = nullptr;
  std::shared_ptr<Communicator> child;
  std::vector<std::shared_ptr<Communicator>> busy = {parent};
  if (color != NCCL_SPLIT_NOCOLOR) {
    child = std::make_shared<Communicator>(parent->device(), blocking(config, parent->blocking()));
    *into = handle_of(child);
    busy.push_back(child);
  }
  const auto run = [parent, child, color, key] {
    const auto part = parent->split(color, key);
    if (!part) {
      if (child) child->fail(ncclInternalError, "the parent was aborted");
      return ncclInternalError;
    }
    if (!child) return ncclSuccess;
    child->place(part->segment, part->rank, part->ranks);
    return child->join();
  };
  return Group::of_thread().add(Job{busy, parent->blocking(), run, withdrawing(into, *into)});
}

// Gives the handle up, and the event that it alone uses.
std::shared_ptr<Communicator> take(ncclComm_t comm) {
  auto taken = communicators().remove(comm);
  if (!taken) refuse(ncclInvalidArgument, "the communicator is none");
  return taken;
}

ncclResult_t release(Communicator& communicator) {
  communicator.abort();
  communicator.end_profile();
  if (communicator.last_event != nullptr) {
    cudaEventDestroy(std::exchange(communicator.last_event, nullptr));
  }
  return ncclSuccess;
}

template <class F>
ncclResult_t with(ncclComm_t comm, const F& f) {
  const auto found = communicators().find(comm);
  if (!found) return refuse(ncclInvalidArgument, "the communicator is none");
  return f(*found);
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::Communicator;
using fake_gpu::Group;
using fake_gpu::refuse;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return refuse(ncclInvalidArgument, "version is NULL");
  const char* const other = std::getenv("FAKE_NCCL_VERSION");
  *version = other != nullptr && *other != '\0' ? std::atoi(other) : NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return refuse(ncclInvalidArgument, "uniqueId is NULL");
  unsigned char random[16] = {};
  if (getrandom(random, sizeof random, 0) != sizeof random) return ncclSystemError;
  *id = {};
  std::string text = fake_gpu::prefix;
  for (const unsigned char byte : random) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  text.copy(id->internal, sizeof id->internal - 1);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return Group::of_thread().note(fake_gpu::init(comm, ranks, id, rank, config));
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* into,
                           ncclConfig_t* config) {
  return Group::of_thread().note(fake_gpu::split(comm, color, key, into, config));
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const auto found = fake_gpu::communicators().find(comm);
  if (!found || found->in_progress()) return refuse(ncclInvalidArgument, "the communicator");
  if (const auto error = found->error(); error != ncclSuccess) return error;
  if (found->finalized.exchange(true)) return refuse(ncclInvalidArgument, "finalized before");
  if (found->blocking()) {
    found->drain();
    return found->error();
  }
  const auto quiet = [found] {
    while (found->enqueued > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return ncclSuccess;
  };
  return Group::of_thread().add(fake_gpu::Job{{found}, false, quiet, [](ncclResult_t) {}});
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  const auto taken = fake_gpu::take(comm);
  if (!taken) return ncclInvalidArgument;
  taken->drain();
  return fake_gpu::release(*taken);
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  const auto taken = fake_gpu::take(comm);
  return taken ? fake_gpu::release(*taken) : ncclInvalidArgument;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return fake_gpu::with(comm, [&](Communicator& communicator) {
    if (error == nullptr) return refuse(ncclInvalidArgument, "asyncError is NULL");
    *error = communicator.poll();
    return ncclSuccess;
  });
}

// Of the communicator's asynchronous error, else of the calling thread's latest call that failed.
const char* ncclGetLastError(ncclComm_t comm) {
  const auto found = fake_gpu::communicators().find(comm);
  const std::string message = found ? found->message() : std::string();
  if (!message.empty()) fake_gpu::last_message() = message;
  return fake_gpu::last_message().c_str();
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: break;  // of a newer NCCL
  }
  return "unknown result code";
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  return fake_gpu::with(comm, [&](const Communicator& communicator) {
    if (communicator.in_progress()) return refuse(ncclInvalidArgument, "not ready");
    *count = communicator.ranks();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  return fake_gpu::with(comm, [&](const Communicator& communicator) {
    if (communicator.in_progress()) return refuse(ncclInvalidArgument, "not ready");
    *rank = communicator.rank();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  return fake_gpu::with(comm, [&](const Communicator& communicator) {
    if (communicator.in_progress()) return refuse(ncclInvalidArgument, "not ready");
    *device = communicator.device();
    return ncclSuccess;
  });
}

}  // extern "C"
