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
    check(call_counted(b.large(), MPI_Send, MPI_Send_c, m.bytes.data(), b.units(), b.type(), m.peer,
                       tag, comm_),
          "MPI_Send");
  } else {
    check(call_counted(b.large(), MPI_Recv, MPI_Recv_c, m.bytes.data(), b.units(), b.type(), m.peer,
                       tag, comm_, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
}

void Messages::post(const Message& m) {
  const Block b = block(m);
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  if (m.sends()) {
    check(call_counted(b.large(), MPI_Isend, MPI_Isend_c, m.bytes.data(), b.units(), b.type(),
                       m.peer, tag, comm_, &request),
          "MPI_Isend");
  } else {
    check(call_counted(b.large(), MPI_Irecv, MPI_Irecv_c, m.bytes.data(), b.units(), b.type(),
                       m.peer, tag, comm_, &request),
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

bool VectorCollectives::takes(std::span<const std::size_t> counts,
                              std::span<const std::size_t> offsets) const {
  return has_large_counts() || !(too_large(counts) || too_large(offsets));
}

bool VectorCollectives::all_gatherv(const Call& call) const {
  if (!takes(call.recv_counts, call.recv_offsets)) return false;
  const bool large = too_large(call.recv_counts) || too_large(call.recv_offsets);
  const Counts<MPI_Count> counts(call.recv_counts, large);
  const Counts<MPI_Aint> offsets(call.recv_offsets, large);
  const bool in_place = call.send == own_block(call, call.recv, call.recv_offsets);
  check(call_counted(large, MPI_Allgatherv, MPI_Allgatherv_c, in_place ? MPI_IN_PLACE : call.send,
                     Count{call.count}, type(call), call.recv, counts, offsets, type(call), comm_),
        "MPI_Allgatherv");
  return true;
}

bool VectorCollectives::gatherv(const Call& call) const {
  if (!takes(call.recv_counts, call.recv_offsets)) return false;
  const bool large = too_large(call.recv_counts) || too_large(call.recv_offsets);
  const Counts<MPI_Count> counts(call.recv_counts, large);
  const Counts<MPI_Aint> offsets(call.recv_offsets, large);
  const bool in_place = is_root(call) && call.send == own_block(call, call.recv, call.recv_offsets);
  check(call_counted(large, MPI_Gatherv, MPI_Gatherv_c, in_place ? MPI_IN_PLACE : call.send,
                     Count{call.count}, type(call), call.recv, counts, offsets, type(call),
                     call.root, comm_),
        "MPI_Gatherv");
  return true;
}

bool VectorCollectives::scatterv(const Call& call) const {
  if (!takes(call.send_counts, call.send_offsets)) return false;
  const bool large = too_large(call.send_counts) || too_large(call.send_offsets);
  const Counts<MPI_Count> counts(call.send_counts, large);
  const Counts<MPI_Aint> offsets(call.send_offsets, large);
  const bool in_place = is_root(call) && call.recv == own_block(call, call.send, call.send_offsets);
  check(call_counted(large, MPI_Scatterv, MPI_Scatterv_c, call.send, counts, offsets, type(call),
                     in_place ? MPI_IN_PLACE : call.recv, Count{call.count}, type(call), call.root,
                     comm_),
        "MPI_Scatterv");
  return true;
}

void VectorCollectives::reduce_scatterv(const Call& call, const void* send, void* recv,
                                        bool large) const {
  check(call_counted(large, MPI_Reduce_scatter, MPI_Reduce_scatter_c, send, recv,
                     Counts<MPI_Count>(call.send_counts, large), type(call),
                     datatypes_.op(call.type, call.op), comm_),
        "MPI_Reduce_scatter");
}

void VectorCollectives::alltoallv(const Call& call) const {
  bool large = false;
  for (const auto& values :
       {call.send_counts, call.send_offsets, call.recv_counts, call.recv_offsets})
    large = large || too_large(values);
  if (large && !has_large_counts())
    throw Unsupported(fmt::format(
        "MPI_Alltoallv takes counts and offsets of int, and this MPI has no MPI_Alltoallv_c: at "
        "most {} elements here; choose a wider type (-d) or a smaller size",
        most_));
  check(call_counted(large, MPI_Alltoallv, MPI_Alltoallv_c, call.send,
                     Counts<MPI_Count>(call.send_counts, large),
                     Counts<MPI_Aint>(call.send_offsets, large), type(call), call.recv,
                     Counts<MPI_Count>(call.recv_counts, large),
                     Counts<MPI_Aint>(call.recv_offsets, large), type(call), comm_),
        "MPI_Alltoallv");
}

}  // namespace ccl_tests::mpi_module
