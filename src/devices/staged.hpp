// Buffers in one kind of memory, a library that takes another: every operation goes through copies.
#pragma once

#include <functional>
#include <memory>

#include "src/core/backend.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

class Communicator;

using Connect = std::function<std::unique_ptr<Communicator>()>;

// Takes buffers in `memory`; `library` connects what works on the other one. Scratch memory for the library is `library_side`'s; `gpu`, which is
// one of the two sides, copies between them. Both devices outlive the communicator. Operations are
// complete when they return; messages, when their transfer returns;
// what is started, when the first of what was started is waited for.
std::unique_ptr<Communicator> stage(const Connect& library, Memory memory, Device& library_side,
                                    Device& gpu);

// A backend whose communicators take host memory, over one that takes that of `gpu`. All three
// outlive it.
std::unique_ptr<Backend> on_host_memory(const Backend& library, Device& gpu);

}  // namespace ccl_tests
