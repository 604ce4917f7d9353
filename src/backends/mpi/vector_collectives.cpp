#include "src/backends/mpi/vector_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/backends/mpi/library.hpp"

namespace ccl_tests::mpi_module {
namespace {

bool is_root(const Call& call) { return call.self.rank == call.root; }

// Where this rank's block begins in a buffer of all ranks' blocks.
const void* own_block(const Call& call, const void* buffer, std::span<const std::size_t> offsets) {
  const std::size_t offset = offsets[static_cast<std::size_t>(call.self.rank)];
  return static_cast<const std::byte*>(buffer) + offset * size_of(call.type);
}

}  // namespace

bool VectorCollectives::too_large(std::span<const std::size_t> counts,
                                  std::span<const std::size_t> offsets) const {
  const auto large = [&](std::size_t v) { return v > most_; };
  return std::any_of(counts.begin(), counts.end(), large) ||
         std::any_of(offsets.begin(), offsets.end(), large);
}

void VectorCollectives::all_gatherv(const Call& call) const {
  const std::vector<int> counts = ints(call.recv_counts);
  const std::vector<int> offsets = ints(call.recv_offsets);
  const bool in_place = call.send == own_block(call, call.recv, call.recv_offsets);
  check(MPI_Allgatherv(in_place ? MPI_IN_PLACE : call.send, static_cast<int>(call.count),
                       type(call), call.recv, counts.data(), offsets.data(), type(call), comm_),
        "MPI_Allgatherv");
}

void VectorCollectives::gatherv(const Call& call) const {
  const std::vector<int> counts = ints(call.recv_counts);
  const std::vector<int> offsets = ints(call.recv_offsets);
  const bool in_place = is_root(call) && call.send == own_block(call, call.recv, call.recv_offsets);
  check(MPI_Gatherv(in_place ? MPI_IN_PLACE : call.send, static_cast<int>(call.count), type(call),
                    call.recv, counts.data(), offsets.data(), type(call), call.root, comm_),
        "MPI_Gatherv");
}

void VectorCollectives::scatterv(const Call& call) const {
  const std::vector<int> counts = ints(call.send_counts);
  const std::vector<int> offsets = ints(call.send_offsets);
  const bool in_place = is_root(call) && call.recv == own_block(call, call.send, call.send_offsets);
  check(MPI_Scatterv(call.send, counts.data(), offsets.data(), type(call),
                     in_place ? MPI_IN_PLACE : call.recv, static_cast<int>(call.count), type(call),
                     call.root, comm_),
        "MPI_Scatterv");
}

void VectorCollectives::reduce_scatterv(const Call& call, const void* send, void* recv) const {
  const std::vector<int> counts = ints(call.send_counts);
  check(MPI_Reduce_scatter(send, recv, counts.data(), type(call), datatypes_.op(call.type, call.op),
                           comm_),
        "MPI_Reduce_scatter");
}

void VectorCollectives::alltoallv(const Call& call) const {
  const std::vector<int> send_counts = ints(call.send_counts);
  const std::vector<int> send_offsets = ints(call.send_offsets);
  const std::vector<int> recv_counts = ints(call.recv_counts);
  const std::vector<int> recv_offsets = ints(call.recv_offsets);
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
