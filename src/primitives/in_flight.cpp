#include "src/primitives/in_flight.hpp"

namespace ccl::primitives {

Handle start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op) {
  return Handle(group.communicator().start_all_reduce(
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, op)));
}

Handle start_broadcast(Group& group, const Tensor& tensor, int src) {
  return Handle(group.communicator().start_broadcast(
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, ReduceOp::sum, src)));
}

}  // namespace ccl::primitives
