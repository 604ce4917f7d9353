#include "src/backends/mpi/messages.hpp"

#include "src/backends/mpi/library.hpp"

namespace ccl_tests::mpi_module {
namespace {
constexpr int tag = 1;
}

void Messages::send(const Call& call) {
  const Block block(datatypes_.type(call.type), size_of(call.type), call.count, most_);
  if (!grouped_) {
    check(MPI_Send(call.send, block.units(), block.type(), call.peer, tag, comm_), "MPI_Send");
    return;
  }
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  check(MPI_Isend(call.send, block.units(), block.type(), call.peer, tag, comm_, &request),
        "MPI_Isend");
}

void Messages::recv(const Call& call) {
  const Block block(datatypes_.type(call.type), size_of(call.type), call.count, most_);
  if (!grouped_) {
    check(
        MPI_Recv(call.recv, block.units(), block.type(), call.peer, tag, comm_, MPI_STATUS_IGNORE),
        "MPI_Recv");
    return;
  }
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  check(MPI_Irecv(call.recv, block.units(), block.type(), call.peer, tag, comm_, &request),
        "MPI_Irecv");
}

void Messages::end() {
  grouped_ = false;
  const int status =
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  check(status, "MPI_Waitall");
}

}  // namespace ccl_tests::mpi_module
