// Buffers that NCCL knows of (-R).
#pragma once

#include <nccl.h>

#include <cstddef>

#include "src/backends/nccl/api.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::nccl_module {

// ncclCommRegister's or ncclCommWindowRegister's handle of a buffer. `comm` is null once it has
// been aborted.
class Registered : public Registration {
 public:
  Registered(const ncclComm_t& comm, std::byte* data, std::size_t bytes, bool symmetric)
      : comm_(comm) {
    if (symmetric) {
      check(api().window(comm, data, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
            "registering a symmetric window", comm);
      if (window_ == nullptr)
        throw Unsupported(
            "-R 2: NCCL gives no symmetric window here (its ranks are not all connected for it)");
    } else {
      check(api().reg(comm, data, bytes, &handle_), "registering a buffer", comm);
    }
  }
  ~Registered() override {
    if (comm_ == nullptr) return;
    if (window_ != nullptr) api().close_window(comm_, window_);
    if (handle_ != nullptr) api().unreg(comm_, handle_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  const ncclComm_t& comm_;
  void* handle_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

}  // namespace ccl_tests::nccl_module
