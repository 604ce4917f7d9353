#include "tests/fake_gpu/nccl_communicator.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/fake_gpu/nccl_profiler.hpp"

namespace fake_gpu {
namespace {

Fault fault(const char* variable) {
  Fault fault;
  const char* const value = std::getenv(variable);
  const char* const colon = value == nullptr ? nullptr : std::strchr(value, ':');
  if (colon == nullptr) return fault;
  fault.rank = std::atoi(value);
  fault.number = std::strtoull(colon + 1, nullptr, 10);
  return fault;
}

long number(const char* variable, long otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : std::atol(value);
}

std::uint64_t host_hash() {
  const char* const id = std::getenv("NCCL_HOSTID");
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return std::hash<std::string>()(id != nullptr && *id != '\0' ? id : host);
}

}  // namespace

// While an operation or a split looks at the segment.
class Running {
 public:
  explicit Running(Communicator& communicator) : communicator_(communicator) {
    ++communicator_.running_;
  }
  ~Running() { --communicator_.running_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Communicator& communicator_;
};

Communicator::Communicator(int device, bool blocking) : device_(device), blocking_(blocking) {}

Communicator::~Communicator() {
  if (memory_ == nullptr) return;
  cudaSetDevice(device_);
  cudaFree(memory_);
}

ncclResult_t Communicator::take_memory() {
  const char* const bytes = std::getenv("FAKE_NCCL_MEMORY");
  if (bytes == nullptr || ranks_ == 1 || std::exchange(took_memory_, true)) return ncclSuccess;
  // Ranks meet in connecting, with no operation under way: none waits for another's memory.
  if (cudaMallocAsync(&memory_, std::strtoull(bytes, nullptr, 10), nullptr) == cudaSuccess)
    return ncclSuccess;
  return ncclUnhandledCudaError;
}

void Communicator::place(std::string segment, int rank, int ranks) {
  name_ = std::move(segment);
  rank_ = rank;
  ranks_ = ranks;
}

ncclResult_t Communicator::join() {
  const Running running(*this);
  try {
    failing_ = fault("FAKE_NCCL_FAIL");
    hanging_ = fault("FAKE_NCCL_HANG");
    corrupting_ = fault("FAKE_NCCL_CORRUPT");
    sent_.assign(static_cast<std::size_t>(ranks_), 0);
    received_ = sent_;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // so that peers may read this process's memory
    segment_ = std::make_unique<Segment>(name_, ranks_);
    Member& self = segment_->members()[static_cast<std::size_t>(rank_)];
    if (self.claimed.exchange(1) != 0) {
      segment_->fail(ncclInvalidUsage, "rank " + std::to_string(rank_) + " joined twice");
    } else {
      self.process = getpid();
      self.host = host_hash();
      cudaDeviceGetPCIBusId(self.bus, sizeof self.bus, device_);
      if (++segment_->joined() == ranks_) segment_->unlink();
    }
    // A peer that goes on at once may have failed in an operation already: no error of the init.
    const auto complete = [&] { return segment_->joined() == ranks_; };
    while (!complete() && segment_->error() == 0 && !aborted_) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (complete()) {
      check_devices();
      enable_peers();
      profiler_ = Profiler::open(std::hash<std::string>()(name_), rank_, ranks_);
    } else {
      segment_->unlink();
      if (aborted_) {
        fail(ncclInternalError, "aborted");
      } else {
        fail(static_cast<ncclResult_t>(segment_->error()), segment_->message());
      }
    }
  } catch (const std::runtime_error& error) {
    fail(segment_ ? ncclInternalError : ncclInvalidUsage, error.what());
  }
  return own_error();
}

// NCCL lets GPUs of one process reach each other's memory (transport/p2p.cc, P2P_SAME_PID).
void Communicator::enable_peers() {
  const char* const disabled = std::getenv("NCCL_P2P_DISABLE");
  if (disabled != nullptr && std::strcmp(disabled, "1") == 0) return;
  cudaSetDevice(device_);
  int devices = 0;
  cudaGetDeviceCount(&devices);
  for (const Member& member : segment_->members()) {
    if (member.process != getpid()) continue;
    for (int device = 0; device < devices; ++device) {
      char bus[sizeof member.bus] = {};
      cudaDeviceGetPCIBusId(bus, sizeof bus, device);
      if (device != device_ && std::strcmp(bus, member.bus) == 0)
        cudaDeviceEnablePeerAccess(device, 0);
    }
  }
  cudaGetLastError();  // another communicator may have enabled it before
}

// Since 2.30 ranks may share a device (init.cc, transport/nvls.cc).
void Communicator::check_devices() {
  int version = 0;
  ncclGetVersion(&version);
  const bool may_be_allowed = version >= NCCL_VERSION(2, 30, 0);
  const bool allowed = may_be_allowed && number("NCCL_MULTI_RANK_GPU_ENABLE", 0) != 0;
  const auto members = segment_->members();
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (members[a].host != members[b].host) continue;
      if (std::strcmp(members[a].bus, members[b].bus) != 0) continue;
      if (!may_be_allowed) {
        fail(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(a) + " and rank " +
                                   std::to_string(b) + " both on CUDA device " + members[a].bus);
      } else if (!allowed) {
        fail(ncclInvalidUsage,
             "Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to "
             "enable this configuration.");
      } else if (number("NCCL_NVLS_ENABLE", 2) == 1) {
        fail(ncclInvalidUsage,
             "NCCL_NVLS_ENABLE has been set to \"1\" and communicator has multiple ranks using the "
             "same NVML device. This is not compatible with NCCL_NVLS_ENABLE=1.");
      }
      return;
    }
  }
}

std::optional<Communicator::Part> Communicator::split(int color, int key) {
  const Running running(*this);
  const auto members = segment_->members();
  Member& self = members[static_cast<std::size_t>(rank_)];
  const std::uint64_t number = ++splits_;
  self.color = color;
  self.key = key;
  self.split_published = number;
  const auto all = [&](auto counter) {
    return [=] {
      return std::all_of(members.begin(), members.end(),
                         [&](const Member& m) { return m.*counter >= number; });
    };
  };
  if (!wait_until(all(&Member::split_published))) return std::nullopt;
  std::vector<std::pair<int, int>> group;  // (key, rank)
  for (int r = 0; r < ranks_; ++r) {
    const Member& member = members[static_cast<std::size_t>(r)];
    if (member.color == color) group.emplace_back(member.key, r);
  }
  self.split_finished = number;
  if (!wait_until(all(&Member::split_finished))) return std::nullopt;
  std::sort(group.begin(), group.end());
  const auto at = std::find(group.begin(), group.end(), std::pair(key, rank_));
  return Part{name_ + "." + std::to_string(number) + "." + std::to_string(color),
              static_cast<int>(at - group.begin()), static_cast<int>(group.size())};
}

ncclResult_t Communicator::poll() {
  std::function<ncclResult_t()> launch;
  {
    const std::lock_guard lock(mutex_);
    if (deferred_ && --polls_left_ > 0) return ncclInProgress;
    launch = std::exchange(deferred_, nullptr);
  }
  if (launch) {
    const auto result = launch();
    if (result != ncclSuccess) fail(result, "the launch failed");
  }
  if (busy) return ncclInProgress;
  return error();
}

void Communicator::defer(std::function<ncclResult_t()> launch) {
  const std::lock_guard lock(mutex_);
  polls_left_ = 2;
  deferred_ = std::move(launch);
}

ncclResult_t Communicator::own_error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

ncclResult_t Communicator::error() const {
  const auto own = own_error();
  if (own != ncclSuccess || busy || !segment_) return own;
  return static_cast<ncclResult_t>(segment_->error());
}

bool Communicator::in_progress() const {
  const std::lock_guard lock(mutex_);
  return busy || deferred_;
}

std::string Communicator::message() const {
  {
    const std::lock_guard lock(mutex_);
    if (error_ != ncclSuccess) return message_;
  }
  return busy || !segment_ ? std::string() : segment_->message();
}

void Communicator::fail(ncclResult_t error, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (error_ != ncclSuccess) return;
  error_ = error;
  message_ = message;
}

void Communicator::fail_all(ncclResult_t error, const std::string& message) {
  segment_->fail(error, message);
}

bool Communicator::wait_until(const Condition& condition) {
  for (int turn = 0; !condition(); ++turn) {
    if (aborted_) return false;
    if (turn < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  return !aborted_;
}

void Communicator::hang() {
  wait_until([] { return false; });
}

void Communicator::abort() {
  aborted_ = true;
  while (busy || running_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void Communicator::drain() {
  while (poll() == ncclInProgress || enqueued > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Communicator::tell(const std::vector<Request>& requests) {
  if (profiler_) profiler_->tell(requests);
}

void Communicator::end_profile() { profiler_.reset(); }

bool Communicator::begin(std::uint64_t operations) {
  if (aborted_) return false;
  const std::uint64_t first = operations_ + 1;
  operations_ += operations;
  const auto due = [&](const Fault& fault) {
    return fault.rank == rank_ && first <= fault.number && fault.number <= operations_;
  };
  if (due(failing_)) {
    fail(ncclRemoteError, "FAKE_NCCL_FAIL: operation " + std::to_string(failing_.number));
  }
  if (due(failing_) || due(hanging_)) {
    hang();
    return false;
  }
  return true;
}

void Communicator::corrupt(std::uint64_t operation, void* result, std::size_t bytes) const {
  if (corrupting_.rank != rank_ || corrupting_.number != operation || bytes == 0) return;
  static_cast<std::byte*>(result)[bytes / 2] ^= std::byte{1};
}

std::optional<Reduction> Communicator::reduction(ncclRedOp_t op, ncclDataType_t type) const {
  if (op >= ncclSum && op < ncclNumOps) return Reduction{op, 0, nullptr, type};
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<std::size_t>(op - ncclNumOps);
  if (op < ncclSum || at >= reductions_.size() || !reductions_[at]) return std::nullopt;
  return reductions_[at]->type == type ? reductions_[at] : std::nullopt;
}

ncclRedOp_t Communicator::add_reduction(const Reduction& reduction) {
  const std::lock_guard lock(mutex_);
  reductions_.emplace_back(reduction);
  return static_cast<ncclRedOp_t>(ncclNumOps + static_cast<int>(reductions_.size()) - 1);
}

bool Communicator::remove_reduction(ncclRedOp_t op) {
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<std::size_t>(op - ncclNumOps);
  if (op < ncclNumOps || at >= reductions_.size() || !reductions_[at]) return false;
  reductions_[at].reset();
  return true;
}

}  // namespace fake_gpu
