#include "src/core/composed.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "src/core/reduction.hpp"

namespace ccl_tests::composed {
namespace {

bool is_root(const Call& call) { return call.self.rank == call.root; }
std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

// `count` elements from element `offset` of the call's buffers.
std::span<const std::byte> sent(const Call& call, std::size_t offset, std::size_t count) {
  const std::size_t width = size_of(call.type);
  return {static_cast<const std::byte*>(call.send) + offset * width, count * width};
}
std::span<std::byte> received(const Call& call, std::size_t offset, std::size_t count) {
  const std::size_t width = size_of(call.type);
  return {static_cast<std::byte*>(call.recv) + offset * width, count * width};
}

void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty() && to.data() != from.data()) std::memmove(to.data(), from.data(), from.size());
}

void transfer(Communicator& communicator, std::span<Message> messages) {
  Deadline end = communicator.deadline(bytes_of(messages));
  communicator.transfer(messages, end);
}

// Returns the offsets of adjacent blocks.
std::vector<std::size_t> offsets_of(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), std::size_t{0});
  return offsets;
}

// Makes a vector operation whose blocks have call.count elements each, in rank order.
void with_equal_blocks(void (*vector_operation)(Communicator&, const Call&),
                       Communicator& communicator, const Call& call) {
  const std::vector<std::size_t> counts(index(call.self.ranks), call.count);
  const std::vector<std::size_t> offsets = offsets_of(counts);
  Call step = call;
  step.send_counts = step.recv_counts = counts;
  step.send_offsets = step.recv_offsets = offsets;
  vector_operation(communicator, step);
}

// One rank's messages of one operation, and the copy of its own block.
class Exchange {
 public:
  Exchange(Communicator& communicator, const Call& call)
      : communicator_(communicator),
        call_(call),
        copies_(communicator.capabilities().memory == Memory::host) {
    messages_.reserve(2 * index(call.self.ranks));
  }

  void send(int peer, std::size_t offset, std::size_t count) {
    const auto block = sent(call_, offset, count);
    if (copies_ && peer == call_.self.rank)
      own_from_ = block;
    else
      messages_.push_back(Message::to(peer, block, call_.type));
  }
  void recv(int peer, std::size_t offset, std::size_t count) {
    const auto block = received(call_, offset, count);
    if (copies_ && peer == call_.self.rank)
      own_to_ = block;
    else
      messages_.push_back(Message::from(peer, block, call_.type));
  }
  void finish() {
    copy(own_to_, own_from_);
    transfer(communicator_, messages_);
  }

 private:
  Communicator& communicator_;
  const Call& call_;
  bool copies_;
  std::span<const std::byte> own_from_;
  std::span<std::byte> own_to_;
  std::vector<Message> messages_;
};

// Returns a reduction with this rank's input: for mulsum multiplied by its scalar, into `products`.
// Throws Unsupported if the buffers lie elsewhere than on the host.
Call with_input(const Communicator& communicator, const Call& call, std::size_t count,
                std::vector<std::byte>& products) {
  if (communicator.capabilities().memory != Memory::host)
    throw Unsupported("reductions are composed on host memory only");
  if (call.op == ReduceOp::mulsum && mulsum_scalar(call.self.rank) != 1)
    products.resize(count * size_of(call.type));
  Call result = call;
  result.send = premultiplied(call, count, products.data());
  return result;
}

// Blocks of all ranks, in elements; `result` is for this rank's.
void ring_reduce_scatter(Communicator& communicator, const Call& call,
                         std::span<const std::size_t> counts, std::span<const std::size_t> offsets,
                         std::byte* result) {
  const std::size_t n = index(call.self.ranks);
  const std::size_t me = index(call.self.rank);
  const auto block = [&](std::size_t r) { return sent(call, offsets[r], counts[r]); };
  const std::size_t largest = *std::max_element(counts.begin(), counts.end());
  std::vector<std::byte> incoming(largest * size_of(call.type)), partial(incoming.size());
  const Combine combine = combine_function(call.type, call.op);
  // In step s this rank passes on block me - s - 1, and adds its share to block me - s - 2.
  std::span<const std::byte> outgoing = block((me + n - 1) % n);
  for (std::size_t s = 0; s + 1 < n; ++s) {
    const std::size_t next = (me + 2 * n - s - 2) % n;
    const std::span<const std::byte> own = block(next);
    Message messages[] = {Message::to(static_cast<int>((me + 1) % n), outgoing, call.type),
                          Message::from(static_cast<int>((me + n - 1) % n),
                                        {incoming.data(), own.size()}, call.type)};
    transfer(communicator, messages);
    communicator.wait();
    std::byte* const to = s + 2 == n ? result : partial.data();
    combine(to, incoming.data(), own.data(), counts[next]);
    outgoing = {to, own.size()};
  }
  if (n == 1) copy({result, block(0).size()}, block(0));
  divided(call, result, counts[me]);
}

// Posts one window. A rank without a peer posts an empty group, because groups are collective on
// loopback.
void take_turn(Communicator& c, const Call& call, bool sends, bool receives) {
  const std::size_t bytes = call.count * size_of(call.type);
  Call message = call;
  c.begin_group();
  for (std::size_t m = 0; call.peer >= 0 && m < call.messages; ++m) {
    message.send = static_cast<const std::byte*>(call.send) + m * bytes;
    message.recv = static_cast<std::byte*>(call.recv) + m * bytes;
    if (receives) c.recv(message);
    if (sends) c.send(message);
  }
  c.end_group();
}

}  // namespace

void all_gatherv(Communicator& communicator, const Call& call) {
  Exchange exchange(communicator, call);
  for (int r = 0; r < call.self.ranks; ++r) {
    exchange.send(r, 0, call.count);
    exchange.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  }
  exchange.finish();
}

void gatherv(Communicator& communicator, const Call& call) {
  Exchange exchange(communicator, call);
  exchange.send(call.root, 0, call.count);
  for (int r = 0; is_root(call) && r < call.self.ranks; ++r)
    exchange.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  exchange.finish();
}

void scatterv(Communicator& communicator, const Call& call) {
  Exchange exchange(communicator, call);
  for (int r = 0; is_root(call) && r < call.self.ranks; ++r)
    exchange.send(r, call.send_offsets[index(r)], call.send_counts[index(r)]);
  exchange.recv(call.root, 0, call.count);
  exchange.finish();
}

void alltoallv(Communicator& communicator, const Call& call) {
  Exchange exchange(communicator, call);
  for (int r = 0; r < call.self.ranks; ++r) {
    exchange.send(r, call.send_offsets[index(r)], call.send_counts[index(r)]);
    exchange.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  }
  exchange.finish();
}

void all_gather(Communicator& communicator, const Call& call) {
  with_equal_blocks(all_gatherv, communicator, call);
}
void gather(Communicator& communicator, const Call& call) {
  with_equal_blocks(gatherv, communicator, call);
}
void scatter(Communicator& communicator, const Call& call) {
  with_equal_blocks(scatterv, communicator, call);
}
void alltoall(Communicator& communicator, const Call& call) {
  with_equal_blocks(alltoallv, communicator, call);
}
void reduce_scatter(Communicator& communicator, const Call& call) {
  with_equal_blocks(reduce_scatterv, communicator, call);
}

void broadcast(Communicator& communicator, const Call& call) {
  const int n = call.self.ranks;
  const int me = (call.self.rank - call.root + n) % n;  // the root is 0
  const auto peer = [&](int relative) { return (relative + call.root) % n; };
  const auto data = received(call, 0, call.count);
  const bool on_host = communicator.capabilities().memory == Memory::host;
  const auto from = is_root(call) && !on_host ? sent(call, 0, call.count) : data;
  if (is_root(call) && on_host) copy(data, sent(call, 0, call.count));
  for (int distance = 1; distance < n; distance *= 2) {
    std::vector<Message> messages;
    if (me < distance && me + distance < n)
      messages.push_back(Message::to(peer(me + distance), from, call.type));
    if (me >= distance && me < 2 * distance)
      messages.push_back(Message::from(peer(me - distance), data, call.type));
    transfer(communicator, messages);
    communicator.fence();
  }
  if (on_host || !is_root(call) || call.send == call.recv) return;
  Message own[] = {Message::to(call.root, from, call.type),
                   Message::from(call.root, data, call.type)};
  transfer(communicator, own);
}

void reduce(Communicator& communicator, const Call& call) {
  const int n = call.self.ranks;
  const int me = (call.self.rank - call.root + n) % n;  // the root is 0
  const auto peer = [&](int relative) { return (relative + call.root) % n; };
  std::vector<std::byte> products;
  const Call input = with_input(communicator, call, call.count, products);
  const std::size_t bytes = call.count * size_of(call.type);
  std::vector<std::byte> incoming(bytes), partial(is_root(call) ? 0 : bytes);
  const std::span<std::byte> sum = is_root(call) ? received(call, 0, call.count) : partial;
  copy(sum, sent(input, 0, call.count));
  const Combine combine = combine_function(call.type, call.op);
  int distance = 1;
  while (distance < n) distance *= 2;
  for (distance /= 2; distance > 0; distance /= 2) {
    std::vector<Message> messages;
    const bool receives = me < distance && me + distance < n;
    if (receives) messages.push_back(Message::from(peer(me + distance), incoming, call.type));
    if (me >= distance && me < 2 * distance)
      messages.push_back(Message::to(peer(me - distance), sum, call.type));
    transfer(communicator, messages);
    communicator.wait();
    if (receives) combine(sum.data(), sum.data(), incoming.data(), call.count);
  }
  if (is_root(call)) divided(call, call.recv, call.count);
}

void reduce_scatterv(Communicator& communicator, const Call& call) {
  const std::size_t all = call.send_bytes(OperationId::reduce_scatterv).size();
  std::vector<std::byte> products;
  const Call input = with_input(communicator, call, all / size_of(call.type), products);
  ring_reduce_scatter(communicator, input, call.send_counts, call.send_offsets,
                      static_cast<std::byte*>(call.recv));
}

void all_reduce(Communicator& communicator, const Call& call) {
  const std::size_t n = index(call.self.ranks);
  std::vector<std::size_t> counts(n, call.count / n);
  std::fill_n(counts.begin(), call.count % n, call.count / n + 1);
  const std::vector<std::size_t> offsets = offsets_of(counts);
  const std::size_t me = index(call.self.rank);
  const auto mine = received(call, offsets[me], counts[me]);
  std::vector<std::byte> products;
  ring_reduce_scatter(communicator, with_input(communicator, call, call.count, products), counts,
                      offsets, mine.data());
  Call results = call;
  results.send = mine.data();
  results.count = counts[me];
  results.recv_counts = counts;
  results.recv_offsets = offsets;
  all_gatherv(communicator, results);
}

void dissemination_barrier(Communicator& communicator, const GroupRank& self) {
  std::byte token{1};
  std::byte heard{};
  for (int distance = 1; distance < self.ranks; distance *= 2) {
    Message messages[] = {
        Message::to((self.rank + distance) % self.ranks, {&token, 1}),
        Message::from((self.rank + self.ranks - distance) % self.ranks, {&heard, 1})};
    transfer(communicator, messages);
    communicator.wait();
  }
}

void exchange_windows(Communicator& c, const Call& call) {
  if (call.legs == 1) return take_turn(c, call, true, true);
  const bool first = call.self.rank == 0;
  take_turn(c, call, first, !first);
  c.fence();  // the answer begins when everything has come
  take_turn(c, call, !first, first);
}

}  // namespace ccl_tests::composed
