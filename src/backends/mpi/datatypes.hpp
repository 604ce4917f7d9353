// The names of types in MPI, and what an MPI can do with them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "src/backends/mpi/large_counts.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/device.hpp"
#include "src/core/types.hpp"

namespace ccl_tests::mpi_module {

inline constexpr std::size_t type_count = static_cast<std::size_t>(DataType::f8e5m2) + 1;
inline constexpr std::size_t op_count = static_cast<std::size_t>(ReduceOp::bxor) + 1;

// half, bfloat16 and the 8-bit floats have no MPI type: they travel as bytes of a type of their own
// and are reduced by functions of ours. avg and mulsum are reduced by sum. Handles live as long as
// the object, which must be gone before MPI_Finalize.
class Datatypes {
 public:
  Datatypes();
  ~Datatypes();
  Datatypes(const Datatypes&) = delete;
  Datatypes& operator=(const Datatypes&) = delete;

  MPI_Datatype type(DataType type) const { return types_[static_cast<std::size_t>(type)]; }
  MPI_Op op(DataType type, ReduceOp op) const {
    return ops_[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
  }
  // True when `type` has no MPI type.
  static bool is_own(DataType type);

 private:
  std::array<MPI_Datatype, type_count> types_;
  std::array<std::array<MPI_Op, op_count>, type_count> ops_;
};

// `count` elements as a datatype and a number of units. Beyond `most` elements they are for MPI's
// functions for large counts, or one unit of a derived type of pieces if the library lacks these.
// For operations that move data only.
class Block {
 public:
  Block(MPI_Datatype element, std::size_t width, std::size_t count, std::size_t most);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  MPI_Datatype type() const { return type_; }
  Count units() const { return units_; }
  bool large() const { return large_; }

 private:
  MPI_Datatype type_;
  Count units_;
  bool large_;
  bool derived_;
};

// Operations that MPI lacks: made of MPI's by the communicator.
inline bool is_composed(ReduceOp op) { return op == ReduceOp::avg || op == ReduceOp::mulsum; }

// device: whose memory the buffers lie in; null: the host's. most: largest count that MPI is given.
// After MPI was initialised, since the thread level is told.
Capabilities capabilities_on(const Device* device, std::size_t most);

}  // namespace ccl_tests::mpi_module
