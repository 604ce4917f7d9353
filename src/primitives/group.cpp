#include "src/primitives/group.hpp"

#include <fmt/format.h>

namespace ccl::primitives {

void Group::barrier() {
  communicator_.barrier(call(nullptr, nullptr, 0, DataType::uint8));
  communicator_.wait();
}

Call Group::call(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                 int root) const {
  if (root < 0 || root >= ranks())
    throw UsageError(fmt::format("no rank {} in a group of {} ranks", root, ranks()));
  Call call;
  call.send = send;
  call.recv = recv;
  call.count = count;
  call.type = type;
  call.op = op;
  call.place = {rank(), ranks(), root, 0};
  return call;
}

}  // namespace ccl::primitives
