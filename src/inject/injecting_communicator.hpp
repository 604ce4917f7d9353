// A library whose results are spoiled on purpose.
#pragma once

#include <memory>

#include "src/core/communicator.hpp"
#include "src/core/device.hpp"
#include "src/inject/injector.hpp"

namespace ccl_tests {

// Returns a communicator that does what `library` does, and then what `injector` says. It waits for an
// operation before it spoils it, and makes started operations at once. device: where buffers lie. Injector and
// device outlive it.
std::unique_ptr<Communicator> with_faults(std::unique_ptr<Communicator> library, Injector& injector,
                                          Device& device);

}  // namespace ccl_tests
