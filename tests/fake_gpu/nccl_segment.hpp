// What the ranks of a communicator share: one POSIX shared memory segment.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace fake_gpu {

enum class Kind : int {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  alltoall,
  gather,
  scatter,
  send,
  recv,
};
const char* name(Kind kind);

// A collective operation as a rank publishes it. Types and operations are nccl.h's numbers.
struct Published {
  Kind kind;
  int type, op, root;
  std::uint64_t count;
  const void* send;      // in the memory of that rank's process
  std::uint64_t scalar;  // the bits of PreMulSum's, of the operation's type
};

// One rank's part. Those fields that are not atomic are written before the counter that publishes
// them, and not again before all ranks' `finished` counter says that they were read.
struct alignas(64) Member {
  std::atomic<int> claimed;
  pid_t process;
  std::uint64_t host;
  char bus[16];
  std::atomic<std::uint64_t> published, finished;  // collective operations
  Published operation;
  std::atomic<std::uint64_t> split_published, split_finished;
  int color, key;
};

// Messages from one rank to another, one at a time.
struct alignas(64) Channel {
  std::atomic<std::uint64_t> posted, consumed;
  const void* from;
  std::uint64_t count;
  int type;
};

// Begins as zeros, which is a valid state of all that is in it.
class Segment {
 public:
  // Creates the segment or opens it; throws std::system_error, and std::runtime_error where another
  // rank was told another number of ranks.
  Segment(std::string name, int ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  const std::string& name() const { return name_; }
  int ranks() const { return ranks_; }
  std::span<Member> members() const;
  Channel& channel(int from, int to) const;
  std::atomic<int>& joined() const;
  void unlink() const;

  // The first error that is everybody's; 0: none.
  int error() const;
  const char* message() const;
  void fail(int error, const std::string& message) const;

 private:
  struct Header;

  const std::string name_;
  const int ranks_;
  std::size_t bytes_ = 0;
  void* base_ = nullptr;
};

// Copies from the memory of a process of this machine; false where that memory is not there.
bool read_memory(pid_t process, void* to, const void* from, std::size_t bytes);

}  // namespace fake_gpu
