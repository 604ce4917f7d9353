// send and recv, alone and in groups.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>
#include <vector>

#include "src/core/communicator.hpp"

namespace ccl_tests::gloo_module {

// Slots of our own messages; Gloo's collectives use small prefixes in the top byte.
inline constexpr std::uint64_t message_slot = std::uint64_t{0x80} << 56;
inline constexpr std::uint64_t ring_slot = std::uint64_t{0x81} << 56;

// Between begin() and end() messages are collected, then posted together: receives first, so that
// no send waits for one. Messages of one pair match in the order of posting (Gloo's slots are first
// in, first out). A message to oneself is a copy, because Gloo has no connection of a rank to
// itself.
class Messages {
 public:
  explicit Messages(std::shared_ptr<gloo::Context> context) : context_(std::move(context)) {}

  // limit: of a message outside a group.
  void send(const Call& call, std::chrono::milliseconds limit);
  void recv(const Call& call, std::chrono::milliseconds limit);
  void begin() { grouped_ = true; }
  std::size_t bytes() const;  // of the messages that end() will post
  void end(std::chrono::milliseconds limit);

 private:
  struct Message {
    void* data;
    std::size_t bytes;
    int peer;
  };
  void copy_own(std::vector<Message>& sends, std::vector<Message>& recvs) const;

  std::shared_ptr<gloo::Context> context_;
  bool grouped_ = false;
  std::vector<Message> sends_, recvs_;
};

}  // namespace ccl_tests::gloo_module
