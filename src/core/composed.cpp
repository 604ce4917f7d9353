#include "src/core/composed.hpp"

#include "src/core/composed_call.hpp"

namespace ccl_tests::composed {
namespace {

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
  const Blocks blocks = equal_blocks(call);
  Call step = call;
  step.recv_counts = blocks.counts;
  step.recv_offsets = blocks.offsets;
  all_gatherv(communicator, step);
}

void gather(Communicator& communicator, const Call& call) {
  const Blocks blocks = equal_blocks(call);
  Call step = call;
  step.recv_counts = blocks.counts;
  step.recv_offsets = blocks.offsets;
  gatherv(communicator, step);
}

void scatter(Communicator& communicator, const Call& call) {
  const Blocks blocks = equal_blocks(call);
  Call step = call;
  step.send_counts = blocks.counts;
  step.send_offsets = blocks.offsets;
  scatterv(communicator, step);
}

void alltoall(Communicator& communicator, const Call& call) {
  const Blocks blocks = equal_blocks(call);
  Call step = call;
  step.send_counts = step.recv_counts = blocks.counts;
  step.send_offsets = step.recv_offsets = blocks.offsets;
  alltoallv(communicator, step);
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

void dissemination_barrier(Communicator& communicator, const GroupRank& self) {
  std::byte token{1};
  std::byte heard{};
  for (int distance = 1; distance < self.ranks; distance *= 2) {
    Message messages[] = {
        Message::to((self.rank + distance) % self.ranks, {&token, 1}),
        Message::from((self.rank + self.ranks - distance) % self.ranks, {&heard, 1})};
    Deadline end = communicator.deadline(0);
    communicator.transfer(messages, end);
    communicator.wait();
  }
}

}  // namespace ccl_tests::composed
