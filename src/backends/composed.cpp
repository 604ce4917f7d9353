#include "src/backends/composed.hpp"

#include <cstring>

namespace ccl_tests::composed {
namespace {

// One rank's messages of one operation, and the copy of its own block; in a GPU's memory that is a
// message too.
class Blocks {
 public:
  Blocks(Communicator& communicator, const Call& call)
      : communicator_(communicator), call_(call), copies_(communicator.memory() == Memory::host) {
    communicator_.begin_group();
  }

  void send(int peer, std::size_t offset, std::size_t count) {
    if (copies_ && peer == call_.self.rank) {
      own_from_ = from(offset);
      return;
    }
    Call step = call_;
    step.peer = peer;
    step.send = from(offset);
    step.count = count;
    communicator_.send(step);
  }

  void recv(int peer, std::size_t offset, std::size_t count) {
    if (copies_ && peer == call_.self.rank) {
      own_to_ = to(offset);
      own_bytes_ = count * size_of(call_.type);
      return;
    }
    Call step = call_;
    step.peer = peer;
    step.recv = to(offset);
    step.count = count;
    communicator_.recv(step);
  }

  void finish() {
    if (own_bytes_ > 0 && own_from_ != own_to_) std::memcpy(own_to_, own_from_, own_bytes_);
    communicator_.end_group();
  }

 private:
  const std::byte* from(std::size_t offset) const {
    return static_cast<const std::byte*>(call_.send) + offset * size_of(call_.type);
  }
  std::byte* to(std::size_t offset) const {
    return static_cast<std::byte*>(call_.recv) + offset * size_of(call_.type);
  }

  Communicator& communicator_;
  const Call& call_;
  bool copies_;
  const std::byte* own_from_ = nullptr;
  std::byte* own_to_ = nullptr;
  std::size_t own_bytes_ = 0;
};

bool is_root(const Call& call) { return call.self.rank == call.root; }

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

void all_gatherv(Communicator& communicator, const Call& call) {
  Blocks blocks(communicator, call);
  for (int r = 0; r < call.self.ranks; ++r) {
    blocks.send(r, 0, call.count);
    blocks.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  }
  blocks.finish();
}

void gatherv(Communicator& communicator, const Call& call) {
  Blocks blocks(communicator, call);
  blocks.send(call.root, 0, call.count);
  for (int r = 0; is_root(call) && r < call.self.ranks; ++r)
    blocks.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  blocks.finish();
}

void scatterv(Communicator& communicator, const Call& call) {
  Blocks blocks(communicator, call);
  for (int r = 0; is_root(call) && r < call.self.ranks; ++r)
    blocks.send(r, call.send_offsets[index(r)], call.send_counts[index(r)]);
  blocks.recv(call.root, 0, call.count);
  blocks.finish();
}

void alltoallv(Communicator& communicator, const Call& call) {
  Blocks blocks(communicator, call);
  for (int r = 0; r < call.self.ranks; ++r) {
    blocks.send(r, call.send_offsets[index(r)], call.send_counts[index(r)]);
    blocks.recv(r, call.recv_offsets[index(r)], call.recv_counts[index(r)]);
  }
  blocks.finish();
}

}  // namespace ccl_tests::composed
