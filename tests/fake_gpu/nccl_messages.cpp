// Sends and receives, those of a group together.
#include <algorithm>
#include <memory>

#include "tests/fake_gpu/nccl_communicator.hpp"

namespace fake_gpu {

struct Communicator::Message {
  const Request* request;
  std::uint64_t operation;  // number in the communicator, of this rank
  std::uint64_t number;     // number in its channel
  bool posted = false, done = false;
};

void Communicator::run(const std::vector<Request>& requests) {
  ++running_;
  const auto leave = std::shared_ptr<void>(nullptr, [this](void*) { --running_; });
  const std::lock_guard turn(turn_);
  if (!begin(requests.size())) return;
  std::vector<Message> messages;
  for (const Request& request : requests) {
    auto& counters = request.kind == Kind::send ? sent_ : received_;
    const auto peer = static_cast<std::size_t>(request.root);
    messages.push_back(
        {&request, operations_ - requests.size() + messages.size() + 1, ++counters[peer]});
  }
  wait_until([&] {
    bool done = true;
    for (Message& message : messages) done = advance(message) && done;
    return done;
  });
}

bool Communicator::advance(Message& message) {
  if (message.done) return true;
  const Request& request = *message.request;
  const bool sends = request.kind == Kind::send;
  const auto members = segment_->members();
  const Member& peer = members[static_cast<std::size_t>(request.root)];
  const Member& self = members[static_cast<std::size_t>(rank_)];
  // Read before the channel: what the peer did before that collective is seen then.
  const bool left_behind = peer.published > self.published;
  Channel& channel =
      sends ? segment_->channel(rank_, request.root) : segment_->channel(request.root, rank_);
  if (sends && !message.posted && channel.consumed == message.number - 1) {
    channel.from = request.send;
    channel.count = request.count;
    channel.type = request.type;
    channel.posted = message.number;
    message.posted = true;
  }
  if (sends) {
    message.done = message.posted && channel.consumed >= message.number;
  } else if (channel.posted >= message.number) {
    if (channel.count != request.count || channel.type != request.type) {
      fail_all(ncclInvalidUsage,
               "rank " + std::to_string(request.root) + " sends " + std::to_string(channel.count) +
                   " elements of type " + std::to_string(channel.type) + ", rank " +
                   std::to_string(rank_) + " receives " + std::to_string(request.count) +
                   " of type " + std::to_string(request.type));
      return false;
    }
    const std::size_t bytes = request.count * bytes_of(request.type);
    if (!read_memory(peer.process, request.recv, channel.from, bytes)) {
      fail(ncclRemoteError, "the memory of a peer is gone");
      hang();
      return false;
    }
    corrupt(message.operation, request.recv, bytes);
    channel.consumed = message.number;
    message.done = true;
  }
  if (!message.done && left_behind) {
    fail_all(ncclInvalidUsage, "rank " + std::to_string(rank_) + " calls " + name(request.kind) +
                                   " with rank " + std::to_string(request.root) + ", which calls " +
                                   name(peer.operation.kind));
  }
  return message.done;
}

}  // namespace fake_gpu
