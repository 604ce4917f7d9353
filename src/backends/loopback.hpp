// The in-process test double: collectives written from their definitions, on bytes that travel over
// the channel. Slow, obvious and independent of the specs' blocks, so that specs can be held
// against it.
#pragma once

#include "src/core/backend.hpp"

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
