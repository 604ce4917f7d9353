#include "src/core/barrier.hpp"

namespace ccl_tests {

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

}  // namespace ccl_tests
