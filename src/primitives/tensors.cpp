#include "src/primitives/tensors.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "src/core/mix.hpp"
#include "src/primitives/agreement.hpp"

namespace ccl_tests::primitives {

namespace {

using Start = std::unique_ptr<Work> (Communicator::*)(const Call&);

// An operation that was complete when it was started.
struct Complete : Work {
  void wait() override {}
};

std::unique_ptr<Work> start(Group& group, Start starter, OperationMember operation,
                            const Call& call) {
  if (group.overlaps()) return (group.communicator().*starter)(call);
  group.run(operation, call);
  return std::make_unique<Complete>();
}

void all_reduce_tensor(Group& group, StepClock& clock, const Tensor& tensor, ReduceOp op) {
  group.run(&Communicator::all_reduce,
            group.call(tensor.data, tensor.data, tensor.count, tensor.type, op));
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

}  // namespace

std::unique_ptr<Work> start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op) {
  return start(group, &Communicator::start_all_reduce, &Communicator::all_reduce,
               group.call(tensor.data, tensor.data, tensor.count, tensor.type, op));
}

std::unique_ptr<Work> start_broadcast(Group& group, const Tensor& tensor, int src) {
  return start(group, &Communicator::start_broadcast, &Communicator::broadcast,
               group.call(tensor.data, tensor.data, tensor.count, tensor.type, ReduceOp::sum, src));
}

void take_tensors(std::span<const Tensor> tensors, std::size_t limit_bytes, std::span<Tensor> room,
                  const std::function<void(std::span<const Tensor>)>& send) {
  struct Bucket {  // of one type, in `room`; what lies before `begin` has been sent
    std::size_t tensors = 0, begin = 0, end = 0, bytes = 0;
  };
  std::array<Bucket, static_cast<std::size_t>(DataType::f8e5m2) + 1> buckets;
  std::array<Bucket*, buckets.size()> appeared{};
  std::size_t types = 0;
  const auto bucket_of = [&](const Tensor& tensor) -> Bucket& {
    return buckets[static_cast<std::size_t>(tensor.type)];
  };
  for (const Tensor& tensor : tensors)
    if (bucket_of(tensor).tensors++ == 0) appeared[types++] = &bucket_of(tensor);
  std::size_t place = 0;
  for (Bucket& bucket : buckets) {
    bucket.begin = bucket.end = place;
    place += bucket.tensors;
  }
  const auto send_bucket = [&](Bucket& bucket) {
    send(room.subspan(bucket.begin, bucket.end - bucket.begin));
    bucket.begin = bucket.end;
    bucket.bytes = 0;
  };
  for (const Tensor& tensor : tensors) {
    Bucket& bucket = bucket_of(tensor);
    if (bucket.bytes > 0 && bucket.bytes + tensor.bytes() > limit_bytes) send_bucket(bucket);
    room[bucket.end++] = tensor;
    bucket.bytes += tensor.bytes();
  }
  for (std::size_t t = 0; t < types; ++t)
    if (appeared[t]->begin < appeared[t]->end) send_bucket(*appeared[t]);
}

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
  for (const Tensor& tensor : tensors)
    if (tensor.is_floating()) started.add(start_broadcast(group, tensor, src));
  started.wait();
}

void sync_buffer(Group& group, std::span<const Tensor> buffers, BufferSync how) {
  if (how == BufferSync::broadcast) return broadcast_tensors(group, buffers, 0);
  InFlight started(group);
  for (const Tensor& buffer : buffers)
    if (buffer.is_floating()) started.add(start_all_reduce(group, buffer, ReduceOp::avg));
  started.wait();
}

void sync_grad(Group& group, std::span<const Parameter> parameters) {
  InFlight started(group);
  for (const Parameter& parameter : parameters)
    if (parameter.gradient)
      started.add(start_all_reduce(group, *parameter.gradient, ReduceOp::avg));
  started.wait();
}

void check_number_of_tensors(Group& group, std::size_t count) {
  StepClock clock = group.step_clock();
  const auto mine = static_cast<std::int64_t>(mix(count) >> 24);  // sums of 2^23 fit
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
