// Messages between ranks over MPI, operations that were started, and collectives of unequal blocks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "src/backends/mpi/datatypes.hpp"
#include "src/backends/mpi/library.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::mpi_module {

// An operation that was started; `finish` is called when it is complete.
template <class Finish>
class Request : public Work {
 public:
  Request(MPI_Request request, Finish finish) : request_(request), finish_(finish) {}
  // MPI keeps the buffers until the request is complete. Not while an exception passes: the failure
  // that it tells of may keep the request from ever being complete, and ends the process.
  ~Request() override {
    if (request_ != MPI_REQUEST_NULL && std::uncaught_exceptions() == exceptions_)
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  void wait() override {
    check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    finish_();
  }

 private:
  MPI_Request request_;
  Finish finish_;
  int exceptions_ = std::uncaught_exceptions();
};

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

// MPI's vector collectives. `most`: the largest count or offset that is handed to the functions for
// counts of int, in elements.
class VectorCollectives {
 public:
  VectorCollectives(MPI_Comm comm, const Datatypes& datatypes, std::size_t most)
      : comm_(comm), datatypes_(datatypes), most_(most) {}

  // Returns true if a count or an offset is too large for functions for counts of int.
  bool too_large(std::span<const std::size_t> values) const;

  // These return false, and do nothing, if blocks, of which all ranks know, are too large, and the
  // library has no functions for large counts.
  bool all_gatherv(const Call& call) const;
  bool gatherv(const Call& call) const;
  bool scatterv(const Call& call) const;
  // `send` and `recv` stand for the call's and must not overlap. MPI_IN_PLACE is not used: MPICH
  // 4.0.2 moves a result that is longer than its offset with an overlapping memcpy, and ends there.
  // large: by the function for large counts.
  void reduce_scatterv(const Call& call, const void* send, void* recv, bool large) const;
  // Throws Unsupported if a count or an offset is too large, and the library has no function for
  // that: pieces would have to be agreed on by all ranks, inside the clock.
  void alltoallv(const Call& call) const;

 private:
  bool takes(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) const;
  MPI_Datatype type(const Call& call) const { return datatypes_.type(call.type); }

  MPI_Comm comm_;
  const Datatypes& datatypes_;
  std::size_t most_;
};

}  // namespace ccl_tests::mpi_module
