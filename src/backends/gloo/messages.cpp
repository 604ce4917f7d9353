#include "src/backends/gloo/messages.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <cstring>
#include <vector>

#include "src/core/error.hpp"

namespace ccl_tests::gloo_module {
namespace {

// Copies the k-th message to oneself to the k-th receive from oneself.
void copy_own(std::span<const Message> messages, int rank) {
  const auto next = [&](std::size_t from, bool sends) {
    while (from < messages.size() &&
           (messages[from].peer != rank || messages[from].sends() != sends))
      ++from;
    return from;
  };
  std::size_t send = next(0, true);
  std::size_t recv = next(0, false);
  for (; send < messages.size() && recv < messages.size();
       send = next(send + 1, true), recv = next(recv + 1, false)) {
    const std::span<std::byte> from = messages[send].bytes;
    const std::span<std::byte> to = messages[recv].bytes;
    if (from.size() != to.size())
      throw Error("gloo: a message to oneself differs in length from its receive");
    if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
  }
  if (send < messages.size() || recv < messages.size())
    throw Error("gloo: a message to oneself needs its send and its receive in one group");
}

}  // namespace

void transfer(gloo::Context& context, std::span<const Message> messages,
              std::chrono::milliseconds limit) {
  copy_own(messages, context.rank);
  const auto travels = [&](const Message& m, bool sends) {
    return m.sends() == sends && m.peer != context.rank && !m.bytes.empty();
  };
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
  std::vector<Buffer> receiving, sending;
  for (const Message& m : messages) {
    if (!travels(m, false)) continue;
    receiving.push_back(context.createUnboundBuffer(m.bytes.data(), m.bytes.size()));
    receiving.back()->recv(m.peer, message_slot);
  }
  for (const Message& m : messages) {
    if (!travels(m, true)) continue;
    sending.push_back(context.createUnboundBuffer(m.bytes.data(), m.bytes.size()));
    sending.back()->send(m.peer, message_slot);
  }
  for (const Buffer& buffer : receiving) buffer->waitRecv(limit);
  for (const Buffer& buffer : sending) buffer->waitSend(limit);
}

}  // namespace ccl_tests::gloo_module
