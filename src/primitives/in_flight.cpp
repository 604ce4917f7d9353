#include "src/primitives/in_flight.hpp"

#include "src/core/communicator.hpp"

namespace ccl_tests::primitives {

Handle start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op) {
  const Call call = group.call(tensor.data, tensor.data, tensor.count, tensor.type, op);
  if (group.overlaps()) return Handle(group.communicator().start_all_reduce(call));
  group.communicator().all_reduce(call);
  group.communicator().wait();
  return Handle(nullptr);
}

Handle start_broadcast(Group& group, const Tensor& tensor, int src) {
  const Call call =
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, ReduceOp::sum, src);
  if (group.overlaps()) return Handle(group.communicator().start_broadcast(call));
  group.communicator().broadcast(call);
  group.communicator().wait();
  return Handle(nullptr);
}

}  // namespace ccl_tests::primitives
