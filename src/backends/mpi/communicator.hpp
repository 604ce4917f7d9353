// A rank's communicator over MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "src/core/backend.hpp"

namespace ccl_tests::mpi_module {

// Largest count that is handed to MPI's functions for counts of int, in elements. More goes to those
// for large counts. If the library lacks these: in pieces (reductions) or as derived types
// (everything else).
inline constexpr std::size_t largest_count = std::size_t{1} << 30;

// Takes over `comm`. Its operations block: wait() has nothing to do, and abort() can do nothing for
// a thread inside MPI, whose process must end without it. device: whose memory the buffers lie in,
// where MPI takes that; null: the host's.
std::unique_ptr<Communicator> make_communicator(MPI_Comm comm, Device* device = nullptr,
                                                std::size_t most = largest_count);

}  // namespace ccl_tests::mpi_module
