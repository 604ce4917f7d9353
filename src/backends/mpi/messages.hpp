// send and recv, alone and in groups.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "src/backends/mpi/datatypes.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::mpi_module {

// Messages between begin() and end() are posted at once and completed together. Messages of one
// pair match in the order of posting. `most`: elements of one MPI count.
class Messages {
 public:
  Messages(MPI_Comm comm, const Datatypes& datatypes, std::size_t most)
      : comm_(comm), datatypes_(datatypes), most_(most) {}

  void send(const Call& call);
  void recv(const Call& call);
  void begin() { grouped_ = true; }
  void end();

 private:
  MPI_Comm comm_;
  const Datatypes& datatypes_;
  std::size_t most_;
  bool grouped_ = false;
  std::vector<MPI_Request> requests_;
};

}  // namespace ccl_tests::mpi_module
