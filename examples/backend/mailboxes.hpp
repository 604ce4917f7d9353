// The "library" of this example: messages between ranks of one host through shared memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// One message on its way: `done` of `bytes` bytes have been written to, or read from, the mailbox.
struct Message {
  bool out;
  std::byte* data;
  std::size_t bytes;
  int peer;
  std::size_t done = 0;
};

// A box for every ordered pair of ranks, in a segment that all ranks map: processes and threads
// alike.
class Mailboxes {
 public:
  // `create` on one rank only; the others open the segment that it made.
  Mailboxes(const std::string& name, int rank, int ranks, bool create);
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  // Moves what can be moved now; true when all messages are done. Messages of one pair keep their
  // order.
  bool progress(std::vector<Message>& messages);

  // Ends the waiting of all ranks, from any thread.
  void abort() noexcept;
  bool aborted() const;

 private:
  static constexpr std::size_t box_bytes = 32 << 10;
  // A ring: bytes [read, written) are in it.
  struct alignas(64) Box {
    std::atomic<std::uint64_t> written, read;
    alignas(64) std::byte data[box_bytes];
  };
  struct alignas(64) Header {
    std::atomic<bool> aborted;
  };

  Box& box(int from, int to) const;
  void move(Message& message);

  int rank_, ranks_;
  std::size_t segment_bytes_;
  void* segment_;
};
