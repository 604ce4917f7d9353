// Operations over MPI that were started.
#pragma once

#include <mpi.h>

#include <exception>

#include "src/backends/mpi/library.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::mpi_module {

// One request; `finish` is called when it is complete.
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

}  // namespace ccl_tests::mpi_module
