// The parts that specs of composite primitives share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "collectives/parts.hpp"
#include "src/core/error.hpp"
#include "src/core/operation.hpp"
#include "src/primitives/group.hpp"
#include "src/primitives/objects.hpp"

namespace ccl_tests::collectives {

// An operation made of primitives: one rank's group of the primitives, and the copies between the
// row's buffers and theirs. The copies count as packing.
class OnGroup : public Operation {
 public:
  OnGroup(ControlChannel& channel, Communicator& communicator) : group_(channel, communicator) {}
  void set_exchange_limit(double limit_s) override { group_.set_limit(limit_s); }
  StepTimes times() const override { return group_.times(); }

 protected:
  // Copies the input into the receive buffer, for primitives that work in place.
  void copy_input(const Call& call, std::size_t bytes) {
    if (call.send == call.recv || bytes == 0) return;
    primitives::StepClock clock = group_.step_clock();
    std::memcpy(call.recv, call.send, bytes);
    clock.packing();
  }
  // Copies the objects that a primitive delivered into `recv`, one after the other. Throws Error
  // if the objects have more than `room` bytes.
  void copy_out(std::span<const primitives::Bytes> objects, void* recv, std::size_t room) {
    primitives::StepClock clock = group_.step_clock();
    auto* to = static_cast<std::byte*>(recv);
    for (const primitives::Bytes object : objects) {
      if (object.size() > room) throw Error("received objects are longer than those sent");
      room -= object.size();
      to = std::copy(object.begin(), object.end(), to);
    }
    clock.packing();
  }
  void copy_out(const primitives::Objects& objects, void* recv, std::size_t room) {
    views_.clear();
    for (std::size_t i = 0; i < objects.count(); ++i) views_.push_back(objects.object(i));
    copy_out(views_, recv, room);
  }

  primitives::Group& group() { return group_; }

 private:
  primitives::Group group_;
  std::vector<primitives::Bytes> views_;
};

// The library's operations that src/primitives/ calls.
inline constexpr OperationSet primitives_call = {OperationId::all_reduce, OperationId::reduce,
                                                 OperationId::broadcast,  OperationId::all_gather,
                                                 OperationId::gather,     OperationId::barrier};

// The needs that all composites have in common.
inline constexpr Needs composite = {.in_steps = true,
                                    .host_memory = true,
                                    .host_waits = true,
                                    .own_buffers = true,
                                    .agreement = true,
                                    .step_times = true,
                                    .operations = primitives_call};

// Makes a composite's operation (Collective::make), of a class with this constructor.
template <class T>
std::unique_ptr<Operation> compose(ControlChannel& channel, Communicator& communicator,
                                   const Shape& shape, DataType type) {
  return std::make_unique<T>(channel, communicator, shape, type);
}

// Returns the bytes sent for each byte of the ranks' objects, padded to the longest object.
inline double padding_of_parts(const Shape& s) {
  std::vector<std::size_t> bytes = parts(s);
  for (std::size_t& part : bytes) part *= s.type_bytes;
  return primitives::padding_waste(bytes);
}
// Returns the bytes of all objects, padded, and of this rank's own.
inline std::size_t padded_bytes(const Shape& s) {
  const std::vector<std::size_t> all = parts(s);
  return *std::max_element(all.begin(), all.end()) * s.type_bytes * (ranks(s) + 1);
}

// The types of tensors that flashy's functions change.
inline constexpr std::array<DataType, 6> floating = {DataType::float32,  DataType::half,
                                                     DataType::bfloat16, DataType::float64,
                                                     DataType::f8e4m3,   DataType::f8e5m2};
inline constexpr std::array<ReduceOp, 1> average_only = {ReduceOp::avg};

// Returns the layout of a collective in which every rank sends its object. `receivers` receive all
// objects. It cannot be called in place.
inline Layout gathered_objects(const Shape& s, Who receivers) {
  Layout result = out_of_place(gathered(s, receivers));
  result.counts.reset();
  return result;
}

// Gathers the ranks' objects by bring(group, this rank's object, root, result).
template <Who receivers, auto bring>
class GatheredObjects : public OnGroup {
 public:
  GatheredObjects(ControlChannel& channel, Communicator& communicator, const Shape& shape,
                  DataType /*type*/)
      : OnGroup(channel, communicator),
        room_(gathered_objects(shape, receivers).recv * shape.type_bytes) {}
  void run(const Call& call) override {
    const auto* const send = static_cast<const std::byte*>(call.send);
    bring(group(), {send, call.count * size_of(call.type)}, call.root, objects_);
    copy_out(objects_, call.recv, room_);
  }

 private:
  std::size_t room_;  // bytes
  primitives::Objects objects_;
};

}  // namespace ccl_tests::collectives
