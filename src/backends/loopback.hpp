// The in-process test double: collectives written from their definitions, on bytes that travel over
// the channel. Slow, obvious and independent of the specs' blocks, so that specs can be held
// against it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/core/backend.hpp"
#include "src/core/types.hpp"
namespace ccl_tests::textbook {

// Reductions by their definition, one element at a time in rank order, rounded to the type after
// every step.

// out[k] = reduction over ranks of inputs[rank][first + k], k < count; inputs hold elements of
// `type`.
void reduce(std::byte* out, std::span<const std::string> inputs, std::size_t first,
            std::size_t count, DataType type, ReduceOp op);

}  // namespace ccl_tests::textbook

namespace ccl_tests {

class LoopbackBackend : public Backend {
 public:
  BackendInfo info() const override {
    return {.name = "loopback", .version = "built in", .scratch_factor = [](int ranks) {
              return 2.0 * ranks + 2;
            }};
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override;
};

}  // namespace ccl_tests
