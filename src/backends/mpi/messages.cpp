#include "src/backends/mpi/messages.hpp"

namespace ccl_tests::mpi_module {

namespace {
constexpr int tag = 1;
}

Block Messages::block(const Message& m) const {
  return {datatypes_.type(m.type), size_of(m.type), m.count(), most_};
}

void Messages::make(const Message& m) const {
  const Block b = block(m);
  if (m.sends()) {
    check(MPI_Send(m.bytes.data(), b.units(), b.type(), m.peer, tag, comm_), "MPI_Send");
  } else {
    check(MPI_Recv(m.bytes.data(), b.units(), b.type(), m.peer, tag, comm_, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
}

void Messages::post(const Message& m) {
  const Block b = block(m);
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  if (m.sends()) {
    check(MPI_Isend(m.bytes.data(), b.units(), b.type(), m.peer, tag, comm_, &request),
          "MPI_Isend");
  } else {
    check(MPI_Irecv(m.bytes.data(), b.units(), b.type(), m.peer, tag, comm_, &request),
          "MPI_Irecv");
  }
}

void Messages::transfer(std::span<const Message> messages) {
  if (messages.size() == 1) {
    make(messages.front());
    return;
  }
  requests_.clear();
  for (const Message& message : messages) post(message);
  check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

}  // namespace ccl_tests::mpi_module
