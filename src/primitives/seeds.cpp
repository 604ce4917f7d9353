#include "src/primitives/seeds.hpp"

#include <cstring>
#include <random>

#include "src/primitives/objects.hpp"

namespace ccl_tests::primitives {

std::int32_t random_seed() {
  return static_cast<std::int32_t>(std::random_device()() & 0x7fffffffU);
}

std::int32_t sync_random_seed(Group& group, std::int32_t mine) {
  StepClock clock = group.step_clock();
  group.run(&Communicator::broadcast, group.call(&mine, &mine, 1, DataType::int32));
  clock.payload();
  return mine;
}

std::int32_t shared_random_seed(Group& group, std::int32_t mine) {
  Objects everyones;
  all_gather_object(group, std::as_bytes(std::span(&mine, 1)), everyones);
  std::int32_t first = 0;
  std::memcpy(&first, everyones.object(0).data(), sizeof first);
  return first;
}

}  // namespace ccl_tests::primitives
