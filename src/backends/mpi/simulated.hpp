// MPI as SimGrid's SMPI runs it: all ranks are in one operating system process, one after the
// other, so that nothing may wait for another rank but MPI itself.
#pragma once

#include <memory>
#include <string>

#include "src/core/backend.hpp"

namespace ccl_tests::mpi_module {

const Backend& simulated_backend();

// all_gather() by MPI on MPI_COMM_WORLD; limits do not count, because the clock is simulated.
std::unique_ptr<ControlChannel> simulated_channel();

// Returns the simulator's name of the calling rank's host.
std::string simulated_host();

}  // namespace ccl_tests::mpi_module
