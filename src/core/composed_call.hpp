// The parts that composed collectives share. Included by their .cpp files only.
#pragma once

#include <cstring>
#include <vector>

#include "src/core/communicator.hpp"

namespace ccl_tests::composed {

inline bool is_root(const Call& call) { return call.self.rank == call.root; }
inline std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

// `count` elements from element `offset` of the call's buffers.
inline std::span<const std::byte> sent(const Call& call, std::size_t offset, std::size_t count) {
  const std::size_t width = size_of(call.type);
  return {static_cast<const std::byte*>(call.send) + offset * width, count * width};
}
inline std::span<std::byte> received(const Call& call, std::size_t offset, std::size_t count) {
  const std::size_t width = size_of(call.type);
  return {static_cast<std::byte*>(call.recv) + offset * width, count * width};
}

inline void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty() && to.data() != from.data()) std::memmove(to.data(), from.data(), from.size());
}

inline void transfer(Communicator& communicator, std::span<Message> messages) {
  Deadline end = communicator.deadline(bytes_of(messages));
  communicator.transfer(messages, end);
}

// Adjacent blocks in rank order, in elements.
struct Blocks {
  std::vector<std::size_t> counts, offsets;
};
inline Blocks equal_blocks(const Call& call) {
  Blocks blocks;
  for (std::size_t r = 0; r < index(call.self.ranks); ++r) {
    blocks.counts.push_back(call.count);
    blocks.offsets.push_back(r * call.count);
  }
  return blocks;
}

}  // namespace ccl_tests::composed
