// An operation that is one call of the library under test.
#pragma once

#include <functional>

#include "src/core/communicator.hpp"
#include "src/core/operation.hpp"

namespace ccl_tests {

// An operation that is `issue`: a member of Communicator, or a function of a communicator and a
// call.
template <auto issue>
class LibraryCall : public Operation {
 public:
  explicit LibraryCall(Communicator& communicator) : communicator_(communicator) {}
  void run(const Call& call) override { std::invoke(issue, communicator_, call); }

 private:
  Communicator& communicator_;
};

}  // namespace ccl_tests
