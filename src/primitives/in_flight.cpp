#include "src/primitives/in_flight.hpp"

namespace ccl::primitives {

Handle start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op) {
  group.communicator().all_reduce(
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, op));
  return Handle(group.communicator());
}

Handle start_broadcast(Group& group, const Tensor& tensor, int src) {
  group.communicator().broadcast(
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, ReduceOp::sum, src));
  return Handle(group.communicator());
}

}  // namespace ccl::primitives
