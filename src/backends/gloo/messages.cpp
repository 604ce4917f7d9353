#include "src/backends/gloo/messages.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "src/backends/gloo/errors.hpp"

namespace ccl_tests::gloo_module {
namespace {

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

// Slots of our own messages; Gloo's collectives use small prefixes in the top byte.
constexpr std::uint64_t message_slot = std::uint64_t{0x80} << 56;
constexpr std::uint64_t ring_slot = std::uint64_t{0x81} << 56;

constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::size_t pieces_in_flight = 4;

// One step of the ring: sends `from` piece by piece to the next rank while another block arrives in
// scratch, and is combined with `own` into `to`. `to` may be where `from` is: a piece is
// overwritten only after it has been sent.
struct Step {
  std::span<const std::byte> from, own;
  std::byte* to;
};

class Ring {
 public:
  Ring(gloo::Context& context, std::size_t width, Combine combine, std::byte* scratch,
       std::chrono::milliseconds limit)
      : context_(context), width_(width), combine_(combine), scratch_(scratch), limit_(limit) {}

  void run(const Step& step) {
    const std::size_t pieces = std::max(pieces_of(step.from), pieces_of(step.own));
    std::vector<Buffer> sending(pieces_of(step.from));
    std::vector<Buffer> receiving(pieces_of(step.own));
    for (std::size_t k = 0; k < std::min(pieces, pieces_in_flight); ++k)
      post(step, k, sending, receiving);
    for (std::size_t k = 0; k < pieces; ++k) {
      if (k < receiving.size()) receiving[k]->waitRecv(limit_);
      if (k < sending.size()) sending[k]->waitSend(limit_);
      if (k < receiving.size()) {
        const std::size_t at = k * piece_bytes;
        combine_(step.to + at, slot(k), step.own.data() + at, piece(step.own, k).size() / width_);
        receiving[k].reset();
      }
      if (k < sending.size()) sending[k].reset();
      if (k + pieces_in_flight < pieces) post(step, k + pieces_in_flight, sending, receiving);
    }
  }

 private:
  static std::size_t pieces_of(std::span<const std::byte> block) {
    return (block.size() + piece_bytes - 1) / piece_bytes;
  }
  static std::span<const std::byte> piece(std::span<const std::byte> block, std::size_t k) {
    const std::size_t at = k * piece_bytes;
    return block.subspan(at, std::min(piece_bytes, block.size() - at));
  }
  std::byte* slot(std::size_t k) const { return scratch_ + k % pieces_in_flight * piece_bytes; }

  void post(const Step& step, std::size_t k, std::vector<Buffer>& sending,
            std::vector<Buffer>& receiving) {
    const int n = context_.size;
    if (k < receiving.size()) {
      receiving[k] = context_.createUnboundBuffer(slot(k), piece(step.own, k).size());
      receiving[k]->recv((context_.rank + n - 1) % n, ring_slot);
    }
    if (k < sending.size()) {
      const std::span<const std::byte> data = piece(step.from, k);
      sending[k] = context_.createUnboundBuffer(const_cast<std::byte*>(data.data()), data.size());
      sending[k]->send((context_.rank + 1) % n, ring_slot);
    }
  }

  gloo::Context& context_;
  std::size_t width_;
  Combine combine_;
  std::byte* scratch_;
  std::chrono::milliseconds limit_;
};

// Copies the k-th message to oneself to the k-th receive from oneself.
void copy_own(std::span<const Message> messages, int rank) {
  std::vector<std::span<std::byte>> sent, received;
  for (const Message& m : messages)
    if (m.peer == rank) (m.sends() ? sent : received).push_back(m.bytes);
  if (sent.size() != received.size())
    throw Error("gloo: a message to oneself needs its send and its receive in one group");
  for (std::size_t k = 0; k < sent.size(); ++k) {
    if (sent[k].size() != received[k].size())
      throw Error("gloo: a message to oneself differs in length from its receive");
    if (!sent[k].empty()) std::memmove(received[k].data(), sent[k].data(), sent[k].size());
  }
}

}  // namespace

void ring_reduce_scatter(gloo::Context& context, const Call& call,
                         std::span<const std::size_t> offsets, Combine combine,
                         std::vector<std::byte>& scratch, std::chrono::milliseconds limit) {
  const auto n = static_cast<std::size_t>(context.size);
  const auto me = static_cast<std::size_t>(context.rank);
  const std::size_t width = size_of(call.type);
  const auto* const send = static_cast<const std::byte*>(call.send);
  auto* const recv = static_cast<std::byte*>(call.recv);
  const auto block = [&](std::size_t r) {
    return std::span(send + offsets[r] * width, (offsets[r + 1] - offsets[r]) * width);
  };
  const std::size_t mine = block(me).size();
  const bool in_place = recv == block(me).data();
  if (n == 1) {
    if (!in_place) std::memcpy(recv, send, mine);
    return;
  }
  std::size_t largest = 0;
  for (std::size_t r = 0; r < n; ++r) largest = std::max(largest, block(r).size());
  const bool fits = largest == mine;  // recv can hold any partial result
  constexpr std::size_t in_flight_bytes = piece_bytes * pieces_in_flight;
  scratch.resize(std::max(scratch.size(), in_flight_bytes + (in_place || fits ? 0 : largest)));
  Ring ring(context, width, combine, scratch.data(), limit);
  // In step s this rank passes on block me - s - 1 and completes its share of block me - s - 2.
  std::span<const std::byte> from = block((me + n - 1) % n);
  for (std::size_t s = 0; s + 1 < n; ++s) {
    const std::span<const std::byte> own = block((me + 2 * n - s - 2) % n);
    std::byte* to = recv;
    if (in_place)
      to = const_cast<std::byte*>(own.data());
    else if (!fits && s + 2 < n)
      to = scratch.data() + in_flight_bytes;
    ring.run({from, own, to});
    from = {to, own.size()};
  }
}

void transfer(gloo::Context& context, std::span<const Message> messages,
              std::chrono::milliseconds limit) {
  copy_own(messages, context.rank);
  std::vector<Buffer> receiving, sending;
  for (const bool sends : {false, true}) {
    for (const Message& m : messages) {
      if (m.sends() != sends || m.peer == context.rank || m.bytes.empty()) continue;
      Buffer buffer = context.createUnboundBuffer(m.bytes.data(), m.bytes.size());
      if (sends)
        buffer->send(m.peer, message_slot);
      else
        buffer->recv(m.peer, message_slot);
      (sends ? sending : receiving).push_back(std::move(buffer));
    }
  }
  for (const Buffer& buffer : receiving) buffer->waitRecv(limit);
  for (const Buffer& buffer : sending) buffer->waitSend(limit);
}

}  // namespace ccl_tests::gloo_module
