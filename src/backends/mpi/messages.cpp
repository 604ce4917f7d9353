#include "src/backends/mpi/messages.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests::mpi_module {
namespace {

constexpr int tag = 1;

bool is_root(const Call& call) { return call.self.rank == call.root; }

// Where this rank's block begins in a buffer of all ranks' blocks.
const void* own_block(const Call& call, const void* buffer, std::span<const std::size_t> offsets) {
  const std::size_t offset = offsets[static_cast<std::size_t>(call.self.rank)];
  return static_cast<const std::byte*>(buffer) + offset * size_of(call.type);
}

}  // namespace

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

bool VectorCollectives::too_large(std::span<const std::size_t> values) const {
  return std::any_of(values.begin(), values.end(), [&](std::size_t v) { return v > most_; });
}

bool VectorCollectives::all_gatherv(const Call& call) const {
  if (too_large(call.recv_counts) || too_large(call.recv_offsets)) return false;
  const auto counts = ints(call.recv_counts), offsets = ints(call.recv_offsets);
  const bool in_place = call.send == own_block(call, call.recv, call.recv_offsets);
  check(MPI_Allgatherv(in_place ? MPI_IN_PLACE : call.send, static_cast<int>(call.count),
                       type(call), call.recv, counts.data(), offsets.data(), type(call), comm_),
        "MPI_Allgatherv");
  return true;
}

bool VectorCollectives::gatherv(const Call& call) const {
  if (too_large(call.recv_counts) || too_large(call.recv_offsets)) return false;
  const auto counts = ints(call.recv_counts), offsets = ints(call.recv_offsets);
  const bool in_place = is_root(call) && call.send == own_block(call, call.recv, call.recv_offsets);
  check(MPI_Gatherv(in_place ? MPI_IN_PLACE : call.send, static_cast<int>(call.count), type(call),
                    call.recv, counts.data(), offsets.data(), type(call), call.root, comm_),
        "MPI_Gatherv");
  return true;
}

bool VectorCollectives::scatterv(const Call& call) const {
  if (too_large(call.send_counts) || too_large(call.send_offsets)) return false;
  const auto counts = ints(call.send_counts), offsets = ints(call.send_offsets);
  const bool in_place = is_root(call) && call.recv == own_block(call, call.send, call.send_offsets);
  check(MPI_Scatterv(call.send, counts.data(), offsets.data(), type(call),
                     in_place ? MPI_IN_PLACE : call.recv, static_cast<int>(call.count), type(call),
                     call.root, comm_),
        "MPI_Scatterv");
  return true;
}

void VectorCollectives::reduce_scatterv(const Call& call, const void* send, void* recv) const {
  const std::vector<int> counts = ints(call.send_counts);
  check(MPI_Reduce_scatter(send, recv, counts.data(), type(call), datatypes_.op(call.type, call.op),
                           comm_),
        "MPI_Reduce_scatter");
}

void VectorCollectives::alltoallv(const Call& call) const {
  const auto send_counts = ints(call.send_counts), send_offsets = ints(call.send_offsets);
  const auto recv_counts = ints(call.recv_counts), recv_offsets = ints(call.recv_offsets);
  check(MPI_Alltoallv(call.send, send_counts.data(), send_offsets.data(), type(call), call.recv,
                      recv_counts.data(), recv_offsets.data(), type(call), comm_),
        "MPI_Alltoallv");
}

std::vector<int> VectorCollectives::ints(std::span<const std::size_t> values) const {
  std::vector<int> result;
  for (const std::size_t v : values) {
    if (v > most_)
      throw Unsupported(fmt::format(
          "MPI_Alltoallv takes counts and offsets of int: {} elements are too many here, at most "
          "{} are; choose a wider type (-d) or a smaller size",
          v, most_));
    result.push_back(static_cast<int>(v));
  }
  return result;
}

}  // namespace ccl_tests::mpi_module
