// The parts that specs of composite primitives share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "collectives/shapes.hpp"
#include "src/core/error.hpp"
#include "src/core/operation.hpp"
#include "src/options/values.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/dictionaries.hpp"
#include "src/primitives/group.hpp"
#include "src/primitives/objects.hpp"
#include "src/primitives/tensor.hpp"

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

// Primitives that work in place, on tensors one after the other in a buffer.

// Returns the elements of each tensor of a row.
inline std::vector<std::size_t> tensor_counts(const Shape& s) {
  return scaled(s.options.tensors, s.count);
}

// Tensors that lie one after the other in a buffer.
class TensorList {
 public:
  static constexpr auto check = primitives::check_tensors;

  TensorList(const std::vector<std::size_t>& counts, DataType type) {
    for (const std::size_t count : counts) tensors_.push_back({nullptr, count, type, {}});
  }
  TensorList(const Shape& shape, DataType type) : TensorList(tensor_counts(shape), type) {}
  std::span<const primitives::Tensor> on(void* buffer) {
    auto* at = static_cast<std::byte*>(buffer);
    for (primitives::Tensor& tensor : tensors_) {
      tensor.data = at;
      if (at != nullptr) at += tensor.bytes();  // a shape alone has no buffers
    }
    return tensors_;
  }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (const primitives::Tensor& tensor : tensors_) all += tensor.bytes();
    return all;
  }

 private:
  std::vector<primitives::Tensor> tensors_;
};

// Runs operate(group, list on the receive buffer, call, options). List: TensorList, or a class with
// the same members. senders: whose input the operation reads.
template <class List, auto operate, Who senders = Who::all>
class InPlaceOn : public OnGroup {
 public:
  InPlaceOn(ControlChannel& channel, Communicator& communicator, const Shape& shape, DataType type)
      : OnGroup(channel, communicator), list_(shape, type), options_(shape.options) {
    group().set_overlaps(options_.async_operations);
  }
  void check() override { List::check(group(), list_.on(nullptr)); }
  void run(const Call& call) override {
    if (senders == Who::all || call.self.rank == call.root) copy_input(call, list_.bytes());
    operate(group(), list_.on(call.recv), call, options_);
  }

 private:
  List list_;
  const CollectiveOptions& options_;
};

inline Layout replaced_tensors(const Shape& s) { return replaced(s, sum(tensor_counts(s))); }

inline std::vector<ExpectedBlock> all_reduced_tensors(const Shape& s) {
  return reduction(sum(tensor_counts(s)));
}
// The root is rank 0 if the collective is not rooted.
inline std::vector<ExpectedBlock> tensors_of_root(const Shape& s) {
  return one_block(s.root, sum(tensor_counts(s)));
}

inline std::vector<std::size_t> entry_counts(const Shape& s) {
  return divided(s, s.options.objects);
}

// The dictionaries of all_reduce_dict and reduce_dict: entries whose tensors lie one after the
// other in a buffer, in the order of their keys. The list of rank r begins with entry r.
class Dictionary {
 public:
  static constexpr auto check = primitives::check_dictionary;

  Dictionary(const Shape& shape, DataType type) : list_(entry_counts(shape), type) {
    const std::size_t keys = shape.options.objects;
    for (std::size_t i = 0; i < keys; ++i) {
      const std::size_t key = (i + rank(shape)) % keys;
      order_.push_back(key);
      entries_.push_back({fmt::format("tensor {:07}", key), {}});
    }
  }
  std::span<const primitives::Entry> on(void* buffer) {
    const auto tensors = list_.on(buffer);
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].tensor = tensors[order_[i]];
    return entries_;
  }
  std::size_t bytes() const { return list_.bytes(); }

 private:
  TensorList list_;
  std::vector<std::size_t> order_;
  std::vector<primitives::Entry> entries_;
};

inline Layout replaced_entries(const Shape& s) { return replaced(s, sum(entry_counts(s))); }

inline std::vector<ExpectedBlock> reduced_entries(const Shape& s) {
  return reduction(sum(entry_counts(s)));
}

}  // namespace ccl_tests::collectives
