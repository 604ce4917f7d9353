// The verifier's loops over the memory of a CUDA device.
#pragma once

#include <memory>

#include "verify/loops.hpp"

namespace ccl_tests::verify {

// Returns the loops of the calling thread's device, on a stream of their own. Throws Error.
std::unique_ptr<Loops> make_cuda_loops();

}  // namespace ccl_tests::verify
