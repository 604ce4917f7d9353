#include "src/run/arena.hpp"

#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests {

Arena::Arena(Communicator& communicator, Device& device, std::size_t bytes, std::size_t flush) {
  GpuExtension* const gpu = communicator.gpu();
  std::size_t k = 0;
  for (Buffer* const buffer : {&send_, &recv_}) {
    if (gpu != nullptr) *buffer = gpu->allocate(bytes);
    if (buffer->data() == nullptr) *buffer = device.allocate(bytes);
    if (gpu != nullptr) registrations_[k++] = gpu->register_buffer(buffer->data(), bytes);
  }
  if (flush > 0) flush_ = device.allocate(flush);
}

void Arena::raise_clocks(verify::Loops& loops, double seconds) const {
  const double end_s = monotonic_seconds() + seconds;
  while (monotonic_seconds() < end_s) loops.set(send_.data(), std::byte{0}, send_.size());
}

}  // namespace ccl_tests
