// Messages between ranks over MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "src/backends/mpi/datatypes.hpp"
#include "src/core/message.hpp"

namespace ccl_tests::mpi_module {

// One message blocks; more are posted at once and completed together. Messages of one pair match in
// the order of posting. `most`: elements of one MPI count.
class Messages {
 public:
  Messages(MPI_Comm comm, const Datatypes& datatypes, std::size_t most)
      : comm_(comm), datatypes_(datatypes), most_(most) {}

  void transfer(std::span<const Message> messages);

 private:
  Block block(const Message& message) const;
  void make(const Message& message) const;
  void post(const Message& message);

  MPI_Comm comm_;
  const Datatypes& datatypes_;
  std::size_t most_;
  std::vector<MPI_Request> requests_;
};

}  // namespace ccl_tests::mpi_module
