// Messages between ranks over MPI, and operations that were started.
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

}  // namespace ccl_tests::mpi_module
