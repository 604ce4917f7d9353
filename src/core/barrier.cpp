#include "src/core/barrier.hpp"

namespace ccl {

void dissemination_barrier(Communicator& communicator, const Place& place) {
  const char token = 1;
  char heard = 0;
  Call call{.send = &token,
            .recv = &heard,
            .count = 1,
            .type = DataType::int8,
            .op = ReduceOp::sum,
            .place = place,
            .send_counts = {},
            .send_offsets = {},
            .recv_counts = {},
            .recv_offsets = {},
            .peer = 0};
  for (int distance = 1; distance < place.ranks; distance *= 2) {
    communicator.begin_group();
    call.peer = (place.rank + distance) % place.ranks;
    communicator.send(call);
    call.peer = (place.rank + place.ranks - distance) % place.ranks;
    communicator.recv(call);
    communicator.end_group();
    communicator.wait();
  }
}

void Communicator::meet(const Place& place) { dissemination_barrier(*this, place); }

}  // namespace ccl
