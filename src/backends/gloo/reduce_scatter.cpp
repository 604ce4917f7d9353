#include "src/backends/gloo/reduce_scatter.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>

#include "src/backends/gloo/messages.hpp"

namespace ccl::gloo_module {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::size_t pieces_in_flight = 4;

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

// One step of the ring: sends `from` piece by piece to the next rank while the same pieces of
// another block arrive in scratch, and are combined with `own` into `to`. `to` may be `from`: a
// piece is overwritten only after it has been sent.
struct Step {
  const std::byte* from;
  const std::byte* own;
  std::byte* to;
};

class Ring {
 public:
  Ring(gloo::Context& context, std::size_t block_bytes, std::size_t width, Combine combine,
       std::byte* scratch, std::chrono::milliseconds limit)
      : context_(context),
        bytes_(block_bytes),
        width_(width),
        combine_(combine),
        scratch_(scratch),
        limit_(limit) {}

  void run(const Step& step) {
    const std::size_t pieces = (bytes_ + piece_bytes - 1) / piece_bytes;
    std::vector<Buffer> sending(pieces);
    std::vector<Buffer> receiving(pieces);
    for (std::size_t k = 0; k < std::min(pieces, pieces_in_flight); ++k)
      post(step, k, sending, receiving);
    for (std::size_t k = 0; k < pieces; ++k) {
      receiving[k]->waitRecv(limit_);
      sending[k]->waitSend(limit_);
      const std::size_t at = k * piece_bytes;
      combine_(step.to + at, slot(k), step.own + at, size(k) / width_);
      receiving[k].reset();
      sending[k].reset();
      if (k + pieces_in_flight < pieces) post(step, k + pieces_in_flight, sending, receiving);
    }
  }

 private:
  std::byte* slot(std::size_t k) const { return scratch_ + k % pieces_in_flight * piece_bytes; }
  std::size_t size(std::size_t k) const { return std::min(piece_bytes, bytes_ - k * piece_bytes); }

  void post(const Step& step, std::size_t k, std::vector<Buffer>& sending,
            std::vector<Buffer>& receiving) {
    const int n = context_.size;
    receiving[k] = context_.createUnboundBuffer(slot(k), size(k));
    receiving[k]->recv((context_.rank + n - 1) % n, ring_slot);
    sending[k] =
        context_.createUnboundBuffer(const_cast<std::byte*>(step.from + k * piece_bytes), size(k));
    sending[k]->send((context_.rank + 1) % n, ring_slot);
  }

  gloo::Context& context_;
  std::size_t bytes_, width_;
  Combine combine_;
  std::byte* scratch_;
  std::chrono::milliseconds limit_;
};

}  // namespace

void ring_reduce_scatter(gloo::Context& context, const Call& call, Combine combine,
                         std::vector<std::byte>& scratch, std::chrono::milliseconds limit) {
  const auto n = static_cast<std::size_t>(context.size);
  const auto me = static_cast<std::size_t>(context.rank);
  const std::size_t width = size_of(call.type);
  const std::size_t block = call.count * width;
  const auto* const send = static_cast<const std::byte*>(call.send);
  auto* const recv = static_cast<std::byte*>(call.recv);
  const bool in_place = recv == send + me * block;
  if (n == 1) {
    if (!in_place) std::memcpy(recv, send, block);
    return;
  }
  scratch.resize(std::max(scratch.size(), piece_bytes * pieces_in_flight));
  Ring ring(context, block, width, combine, scratch.data(), limit);
  // In step s this rank passes on block me - s - 1 and completes its share of block me - s - 2.
  const std::byte* from = send + (me + n - 1) % n * block;
  for (std::size_t s = 0; s + 1 < n; ++s) {
    const std::byte* const own = send + (me + 2 * n - s - 2) % n * block;
    std::byte* const to = in_place ? const_cast<std::byte*>(own) : recv;
    ring.run({from, own, to});
    from = to;
  }
}

}  // namespace ccl::gloo_module
