#include "src/primitives/tensors.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "src/core/communicator.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/buckets.hpp"

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

namespace {

void all_reduce_tensor(Group& group, StepClock& clock, const Tensor& tensor, ReduceOp op) {
  group.communicator().all_reduce(
      group.call(tensor.data, tensor.data, tensor.count, tensor.type, op));
  group.communicator().wait();
  clock.payload();
}

void all_reduce_bucket(Group& group, StepClock& clock, std::span<const Tensor> bucket,
                       ReduceOp op) {
  if (bucket.size() == 1) return all_reduce_tensor(group, clock, bucket.front(), op);
  Tensor flat{nullptr, 0, bucket.front().type};
  for (const Tensor& tensor : bucket) flat.count += tensor.count;
  std::byte* const data = group.workspace().room<std::byte>("flat", flat.bytes()).data();
  flat.data = data;
  std::byte* to = data;
  for (const Tensor& tensor : bucket) to = flatten(tensor, to);
  clock.packing();
  all_reduce_tensor(group, clock, flat, op);
  const std::byte* from = data;
  for (const Tensor& tensor : bucket) from = unflatten(from, tensor);
  clock.packing();
}

// SplitMix64's mixing of a number, cut to 40 bits: sums over 2^23 ranks stay within int64.
std::int64_t hash(std::size_t number) {
  std::uint64_t x = number + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((x ^ (x >> 31)) >> 24);
}

}  // namespace

void all_reduce_params(Group& group, std::span<const Tensor> tensors, bool coalesce,
                       std::int64_t bucket_bytes, ReduceOp op) {
  StepClock clock = group.step_clock();
  if (!coalesce) {
    for (const Tensor& tensor : tensors) all_reduce_tensor(group, clock, tensor, op);
    return;
  }
  const std::size_t limit = bucket_bytes > 0 ? static_cast<std::size_t>(bucket_bytes)
                                             : std::numeric_limits<std::size_t>::max();
  take_tensors(
      tensors, limit, group.workspace().room<Tensor>("buckets", tensors.size()),
      [&](std::span<const Tensor> bucket) { all_reduce_bucket(group, clock, bucket, op); });
}

void broadcast_tensors(Group& group, std::span<const Tensor> tensors, int src) {
  InFlight started(group);
  for (const Tensor& tensor : tensors) {
    if (tensor.is_floating()) started.add(start_broadcast(group, tensor, src));
  }
  started.wait();
}

void sync_buffer(Group& group, std::span<const Tensor> buffers, BufferSync how) {
  if (how == BufferSync::broadcast) return broadcast_tensors(group, buffers, 0);
  InFlight started(group);
  for (const Tensor& buffer : buffers) {
    if (buffer.is_floating()) started.add(start_all_reduce(group, buffer, ReduceOp::avg));
  }
  started.wait();
}

void sync_grad(Group& group, std::span<const Parameter> parameters) {
  InFlight started(group);
  for (const Parameter& parameter : parameters) {
    if (parameter.gradient)
      started.add(start_all_reduce(group, *parameter.gradient, ReduceOp::avg));
  }
  started.wait();
}

void check_number_of_tensors(Group& group, std::size_t count) {
  StepClock clock = group.step_clock();
  const std::int64_t mine = hash(count);
  std::int64_t sum = mine;
  all_reduce_tensor(group, clock, {&sum, 1, DataType::int64}, ReduceOp::sum);
  if (sum == mine * group.ranks()) return;
  check_agreement(group, "check_number_of_tensors",
                  {{"the number of tensors", std::to_string(count)}});
  throw Error(fmt::format(
      "check_number_of_tensors: all ranks have {} tensors, but the library's sum says otherwise",
      count));
}

}  // namespace ccl_tests::primitives
