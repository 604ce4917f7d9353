#include "src/core/barrier.hpp"

namespace ccl_tests {

void dissemination_barrier(Communicator& communicator, const GroupRank& self) {
  const char token = 1;
  char heard = 0;
  Call call{.send = &token,
            .recv = &heard,
            .count = 1,
            .type = DataType::int8,
            .op = ReduceOp::sum,
            .self = self,
            .root = 0,
            .send_counts = {},
            .send_offsets = {},
            .recv_counts = {},
            .recv_offsets = {},
            .peer = 0};
  for (int distance = 1; distance < self.ranks; distance *= 2) {
    communicator.begin_group();
    call.peer = (self.rank + distance) % self.ranks;
    communicator.send(call);
    call.peer = (self.rank + self.ranks - distance) % self.ranks;
    communicator.recv(call);
    communicator.end_group();
    communicator.wait();
  }
}

void Communicator::timing_barrier(const GroupRank& self) { dissemination_barrier(*this, self); }

}  // namespace ccl_tests
