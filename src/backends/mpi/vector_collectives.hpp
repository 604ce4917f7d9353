// all_gatherv, gatherv, scatterv, reduce_scatterv and alltoallv over MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "src/backends/mpi/datatypes.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::mpi_module {

// MPI's vector collectives take counts and offsets of int. `most`: the largest of either that is
// handed to MPI, in elements.
class VectorCollectives {
 public:
  VectorCollectives(MPI_Comm comm, const Datatypes& datatypes, std::size_t most)
      : comm_(comm), datatypes_(datatypes), most_(most) {}

  // Whether the blocks, of which all ranks know, are too large for these calls.
  bool too_large(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) const;

  void all_gatherv(const Call& call) const;
  void gatherv(const Call& call) const;
  void scatterv(const Call& call) const;
  // `send` and `recv` stand for the call's and must not overlap. MPI_IN_PLACE is not used: MPICH
  // 4.0.2 moves a result that is longer than its offset with an overlapping memcpy, and ends there.
  void reduce_scatterv(const Call& call, const void* send, void* recv) const;
  // Throws Unsupported when a count or an offset is too large: pieces would have to be agreed on by
  // all ranks, inside the clock.
  void alltoallv(const Call& call) const;

 private:
  std::vector<int> ints(std::span<const std::size_t> values) const;
  MPI_Datatype type(const Call& call) const { return datatypes_.type(call.type); }

  MPI_Comm comm_;
  const Datatypes& datatypes_;
  std::size_t most_;
};

}  // namespace ccl_tests::mpi_module
