// What the specs of composite primitives share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "collectives/parts.hpp"
#include "src/core/composite.hpp"
#include "src/core/error.hpp"
#include "src/primitives/group.hpp"
#include "src/primitives/objects.hpp"

namespace ccl_tests::collectives {

// One rank's group of the primitives, and the copies between the harness's buffers and theirs,
// which count as packing.
class OnGroup : public Composite {
 public:
  OnGroup(ControlChannel& channel, Communicator& communicator) : group_(channel, communicator) {}
  void set_exchange_limit(double limit_s) override { group_.set_limit(limit_s); }
  StepTimes times() const override { return group_.times(); }

 protected:
  // For primitives that work in place.
  void copy_input(const Call& call, std::size_t bytes) {
    if (call.send == call.recv || bytes == 0) return;
    primitives::StepClock clock = group_.step_clock();
    std::memcpy(call.recv, call.send, bytes);
    clock.packing();
  }
  // Objects that a primitive delivered, one behind the other. Throws Error when they are more than
  // `room` bytes.
  void copy_out(std::span<const primitives::Bytes> objects, void* recv, std::size_t room) {
    primitives::StepClock clock = group_.step_clock();
    auto* to = static_cast<std::byte*>(recv);
    for (const primitives::Bytes object : objects) {
      if (object.size() > room) throw Error("objects came that are longer than those sent");
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

// Collective::compose for a class with this constructor.
template <class T>
std::unique_ptr<Composite> compose(ControlChannel& channel, Communicator& communicator,
                                   const Shape& shape, DataType type) {
  return std::make_unique<T>(channel, communicator, shape, type);
}

// How much padding the ranks' objects make.
inline double padding_of_parts(const Shape& s) {
  std::vector<std::size_t> bytes = parts(s);
  for (std::size_t& part : bytes) part *= s.type_bytes;
  return primitives::padding_waste(bytes);
}
// All objects, padded, and this rank's own.
inline std::size_t padded_bytes(const Shape& s) {
  const std::vector<std::size_t> all = parts(s);
  return *std::max_element(all.begin(), all.end()) * s.type_bytes * (ranks(s) + 1);
}

// flashy's functions leave other tensors than these alone.
inline constexpr std::array<DataType, 6> floating = {DataType::float32,  DataType::half,
                                                     DataType::bfloat16, DataType::float64,
                                                     DataType::f8e4m3,   DataType::f8e5m2};
inline constexpr std::array<ReduceOp, 1> average_only = {ReduceOp::avg};

}  // namespace ccl_tests::collectives
