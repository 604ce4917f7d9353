#include "tests/fake_gpu/nccl_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace fake_gpu {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::all_reduce: return "AllReduce";
    case Kind::reduce: return "Reduce";
    case Kind::broadcast: return "Broadcast";
    case Kind::all_gather: return "AllGather";
    case Kind::reduce_scatter: return "ReduceScatter";
    case Kind::alltoall: return "AlltoAll";
    case Kind::gather: return "Gather";
    case Kind::scatter: return "Scatter";
    case Kind::send: return "Send";
    case Kind::recv: return "Recv";
  }
  return "?";
}

struct alignas(64) Segment::Header {
  std::atomic<int> ranks, joined, failing, error;
  char message[512];
};

Segment::Segment(std::string name, int ranks) : name_(std::move(name)), ranks_(ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  bytes_ = sizeof(Header) + n * sizeof(Member) + n * n * sizeof(Channel);
  const int file = shm_open(name_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "shm_open " + name_);
  struct stat status {};
  // Ranks that disagree about their number must not cut each other's mapping.
  const bool sized =
      fstat(file, &status) == 0 && (static_cast<std::size_t>(status.st_size) >= bytes_ ||
                                    ftruncate(file, static_cast<off_t>(bytes_)) == 0);
  base_ = sized ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = errno;
  close(file);
  if (base_ == MAP_FAILED) throw std::system_error(error, std::generic_category(), name_);
  int agreed = 0;
  if (!static_cast<Header*>(base_)->ranks.compare_exchange_strong(agreed, ranks) &&
      agreed != ranks) {
    munmap(base_, bytes_);
    throw std::runtime_error("this rank was told " + std::to_string(ranks) +
                             " ranks, another one " + std::to_string(agreed));
  }
}

Segment::~Segment() { munmap(base_, bytes_); }

std::span<Member> Segment::members() const {
  return {reinterpret_cast<Member*>(static_cast<Header*>(base_) + 1),
          static_cast<std::size_t>(ranks_)};
}

Channel& Segment::channel(int from, int to) const {
  auto* const channels = reinterpret_cast<Channel*>(members().data() + ranks_);
  return channels[from * ranks_ + to];
}

std::atomic<int>& Segment::joined() const { return static_cast<Header*>(base_)->joined; }

void Segment::unlink() const { shm_unlink(name_.c_str()); }

int Segment::error() const { return static_cast<Header*>(base_)->error; }

const char* Segment::message() const { return static_cast<Header*>(base_)->message; }

void Segment::fail(int error, const std::string& message) const {
  auto* const header = static_cast<Header*>(base_);
  if (header->failing.exchange(1) != 0) return;
  std::strncpy(header->message, message.c_str(), sizeof header->message - 1);
  header->error = error;
}

bool read_memory(pid_t process, void* to, const void* from, std::size_t bytes) {
  // Within the process as well: memory that a peer has given up is an error then, and no SIGSEGV.
  for (std::size_t done = 0; done < bytes;) {
    const iovec local{static_cast<std::byte*>(to) + done, bytes - done};
    const iovec remote{const_cast<std::byte*>(static_cast<const std::byte*>(from)) + done,
                       bytes - done};
    const ssize_t moved = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved <= 0) {
      if (process != getpid() || errno == EFAULT) return false;
      std::memcpy(local.iov_base, remote.iov_base, local.iov_len);
      return true;
    }
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace fake_gpu
