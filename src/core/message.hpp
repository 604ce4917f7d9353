// Bytes on their way between two ranks.
#pragma once

#include <cstddef>
#include <span>

#include "src/core/types.hpp"

namespace ccl_tests {

// One end of a message between this rank and rank `peer`, which may be this rank. A transfer may
// shorten `bytes` as it proceeds.
struct Message {
  enum class Direction { send, recv };
  Direction direction = Direction::send;
  int peer = 0;
  std::span<std::byte> bytes = {};  // of a message to send: read only
  DataType type = DataType::uint8;  // whole elements of it

  bool sends() const { return direction == Direction::send; }
  std::size_t count() const { return bytes.size() / size_of(type); }

  static Message to(int peer, std::span<const std::byte> bytes, DataType type = DataType::uint8) {
    return {Direction::send, peer, {const_cast<std::byte*>(bytes.data()), bytes.size()}, type};
  }
  static Message from(int peer, std::span<std::byte> bytes, DataType type = DataType::uint8) {
    return {Direction::recv, peer, bytes, type};
  }
};

// Returns the bytes of all messages together.
inline std::size_t bytes_of(std::span<const Message> messages) {
  std::size_t all = 0;
  for (const Message& message : messages) all += message.bytes.size();
  return all;
}

}  // namespace ccl_tests
