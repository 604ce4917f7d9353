#include "src/backends/gloo/messages.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ccl_tests::gloo_module {

void Messages::send(const Call& call, std::chrono::milliseconds limit) {
  sends_.push_back({const_cast<void*>(call.send), call.count * size_of(call.type), call.peer});
  if (!grouped_) end(limit);
}

void Messages::recv(const Call& call, std::chrono::milliseconds limit) {
  recvs_.push_back({call.recv, call.count * size_of(call.type), call.peer});
  if (!grouped_) end(limit);
}

std::size_t Messages::bytes() const {
  std::size_t all = 0;
  for (const auto* messages : {&sends_, &recvs_})
    for (const Message& m : *messages) all += m.bytes;
  return all;
}

// The k-th message to oneself goes to the k-th receive from oneself.
void Messages::copy_own(std::vector<Message>& sends, std::vector<Message>& recvs) const {
  const auto own = [&](const Message& m) { return m.peer == context_->rank; };
  const auto others = [&](const Message& m) { return !own(m); };
  const auto first_send = std::stable_partition(sends.begin(), sends.end(), others);
  const auto first_recv = std::stable_partition(recvs.begin(), recvs.end(), others);
  if (sends.end() - first_send != recvs.end() - first_recv) {
    throw Error("gloo: a message to oneself needs its send and its receive in one group");
  }
  for (auto s = first_send, r = first_recv; s != sends.end(); ++s, ++r) {
    if (s->bytes != r->bytes)
      throw Error("gloo: a message to oneself differs in length from its receive");
    if (s->bytes > 0) std::memmove(r->data, s->data, s->bytes);
  }
  sends.erase(first_send, sends.end());
  recvs.erase(first_recv, recvs.end());
}

void Messages::end(std::chrono::milliseconds limit) {
  grouped_ = false;
  std::vector<Message> sends = std::exchange(sends_, {});
  std::vector<Message> recvs = std::exchange(recvs_, {});
  copy_own(sends, recvs);
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> receiving;
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> sending;
  for (const Message& m : recvs) {
    if (m.bytes == 0) continue;
    receiving.push_back(context_->createUnboundBuffer(m.data, m.bytes));
    receiving.back()->recv(m.peer, message_slot);
  }
  for (const Message& m : sends) {
    if (m.bytes == 0) continue;
    sending.push_back(context_->createUnboundBuffer(m.data, m.bytes));
    sending.back()->send(m.peer, message_slot);
  }
  for (const auto& buffer : receiving) buffer->waitRecv(limit);
  for (const auto& buffer : sending) buffer->waitSend(limit);
}

}  // namespace ccl_tests::gloo_module
