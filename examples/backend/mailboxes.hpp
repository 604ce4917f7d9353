// The "library" of this example: messages between ranks of one host through shared memory.
#pragma once

#include <atomic>
#include <ccl-tests/backend.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

// A box for every ordered pair of ranks, in a segment that all ranks map: processes and threads
// alike.
class Mailboxes {
 public:
  enum class Segment { create, open };

  // One rank creates the segment, then the others open it. Throws ccl_tests::Error.
  Mailboxes(const std::string& name, int rank, int ranks, Segment segment);
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  // Moves what can be moved now, and shortens the messages by that. Returns true when nothing is
  // left of any. Messages of one pair keep their order.
  bool progress(std::span<ccl_tests::Message> messages);

  // Returns a name that no other segment of this host has.
  static std::string new_name();
  // Takes the segment's name away. The segment lives on in the ranks that have mapped it.
  static void unlink(const std::string& name);

 private:
  static constexpr std::size_t box_bytes = 32 << 10;
  // A ring: bytes [read, written) are in it.
  struct alignas(64) Box {
    std::atomic<std::uint64_t> written, read;
    alignas(64) std::byte data[box_bytes];
  };

  Box& box(int from, int to) const;
  void move(ccl_tests::Message& message);

  int rank_, ranks_;
  std::size_t segment_bytes_;
  void* segment_;
};
