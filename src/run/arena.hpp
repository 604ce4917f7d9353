// The memory that all rows of a run work on.
#pragma once

#include <cstddef>
#include <memory>

#include "src/core/device.hpp"
#include "src/core/gpu_extension.hpp"
#include "verify/loops.hpp"

namespace ccl_tests {

class Communicator;

// Two big buffers of one rank, in the memory that its library wants them in. Out of place one holds
// what calls send and the other what they receive. In place a call works on one of them.
class Arena {
 public:
  // flush: bytes of the third buffer. Collective if buffers are registered with the library. Throws Error.
  Arena(Communicator& communicator, Device& device, std::size_t bytes, std::size_t flush = 0);

  // Writes the send buffer for so long: a GPU that has been idle runs at a fraction of its clock. Not collective.
  void raise_clocks(verify::Loops& loops, double seconds) const;

  std::byte* send() const { return send_.data(); }
  std::byte* recv() const { return recv_.data(); }
  // No call uses it: writing it takes the caches from the other two.
  const Buffer& flush() const { return flush_; }

 private:
  Buffer send_, recv_, flush_;
  std::unique_ptr<Registration> registrations_[2];
};

}  // namespace ccl_tests
