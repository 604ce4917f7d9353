// Buffers in one kind of memory, a library that takes another: every operation goes through copies.
#pragma once

#include <functional>
#include <memory>

#include "src/core/backend.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

class Communicator;

using Connect = std::function<std::unique_ptr<Communicator>()>;

// Returns a communicator for buffers in `memory`; `library` connects the one below, of the other
// kind. `library_side` has the library's scratch memory; `gpu`, one of the two sides, copies
// between them. Both outlive the communicator. Operations are complete when they return; messages,
// when their transfer returns; what is started, when the first of it is waited for.
std::unique_ptr<Communicator> stage(const Connect& library, Memory memory, Device& library_side,
                                    Device& gpu);

// A backend whose communicators take host memory, over one that takes that of `gpu`. All three
// outlive it.
std::unique_ptr<Backend> on_host_memory(const Backend& library, Device& gpu);

}  // namespace ccl_tests
