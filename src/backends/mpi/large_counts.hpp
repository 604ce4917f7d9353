// MPI's functions for counts that no int holds (MPI 4: MPI_Bcast_c), which a library may lack.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

// Weak: null if the library lacks them. Headers of MPI 3 do not declare them.
// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {
#if MPI_VERSION < 4
using MPI_User_function_c = void(void*, void*, MPI_Count*, MPI_Datatype*);
#endif
#pragma weak MPI_Op_create_c
#pragma weak MPI_Send_c
#pragma weak MPI_Recv_c
#pragma weak MPI_Isend_c
#pragma weak MPI_Irecv_c
#pragma weak MPI_Bcast_c
#pragma weak MPI_Allreduce_c
#pragma weak MPI_Reduce_c
#pragma weak MPI_Reduce_scatter_block_c
#pragma weak MPI_Reduce_scatter_c
#pragma weak MPI_Allgather_c
#pragma weak MPI_Alltoall_c
#pragma weak MPI_Gather_c
#pragma weak MPI_Scatter_c
#pragma weak MPI_Allgatherv_c
#pragma weak MPI_Gatherv_c
#pragma weak MPI_Scatterv_c
#pragma weak MPI_Alltoallv_c
#pragma weak MPI_Iallreduce_c
#pragma weak MPI_Ibcast_c
int MPI_Op_create_c(MPI_User_function_c*, int, MPI_Op*);
int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv_c(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int MPI_Isend_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Irecv_c(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Bcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
int MPI_Allreduce_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
int MPI_Reduce_scatter_block_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce_scatter_c(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm);
int MPI_Alltoall_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm);
int MPI_Gather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                 MPI_Comm);
int MPI_Scatter_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                  MPI_Comm);
int MPI_Allgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                     MPI_Datatype, MPI_Comm);
int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                  MPI_Datatype, int, MPI_Comm);
int MPI_Scatterv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, MPI_Count,
                   MPI_Datatype, int, MPI_Comm);
int MPI_Alltoallv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,
                    const MPI_Count*, const MPI_Aint*, MPI_Datatype, MPI_Comm);
int MPI_Iallreduce_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
int MPI_Ibcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Request*);
}
// NOLINTEND(readability-identifier-naming)

namespace ccl_tests::mpi_module {

// Returns true if the library has these functions. MPI 4.0 brought all of them at once.
inline bool has_large_counts() { return MPI_Op_create_c != nullptr; }

// A number of elements, for either kind of MPI's functions.
struct Count {
  std::size_t value;
  operator int() const { return static_cast<int>(value); }
  operator MPI_Count() const { return static_cast<MPI_Count>(value); }
};

// Numbers of elements, or offsets, of all ranks, for either kind of MPI's functions. Large: type of
// the numbers in the functions for large counts.
template <class Large>
class Counts {
 public:
  Counts(std::span<const std::size_t> values, bool large) {
    for (const std::size_t v : values) {
      if (large)
        large_.push_back(static_cast<Large>(v));
      else
        ints_.push_back(static_cast<int>(v));
    }
  }
  operator const int*() const { return ints_.data(); }
  operator const Large*() const { return large_.data(); }

 private:
  std::vector<int> ints_;
  std::vector<Large> large_;
};

// Calls MPI's function for counts of int, or the one for large counts, with these arguments.
template <class... Small, class... Large, class... Arguments>
int call_counted(bool large, int (*small_counts)(Small...), int (*large_counts)(Large...),
                 const Arguments&... arguments) {
  return large ? large_counts(arguments...) : small_counts(arguments...);
}

}  // namespace ccl_tests::mpi_module
