// The parts that all_gather_object and gather_object share.
#pragma once

#include <cstddef>

#include "collectives/composites.hpp"

namespace ccl_tests::collectives {

// Returns the layout of a collective in which every rank sends its object. `receivers` receive all
// objects. It cannot be called in place.
inline Layout gathered_objects(const Shape& s, Who receivers) {
  Layout result = gathered(s, receivers);
  result.in_place.reset();
  result.counts.reset();
  return result;
}

// Gathers the ranks' objects by bring(group, this rank's object, root, result).
template <auto layout, auto bring>
class GatheredObjects : public OnGroup {
 public:
  GatheredObjects(ControlChannel& channel, Communicator& communicator, const Shape& shape,
                  DataType /*type*/)
      : OnGroup(channel, communicator), room_(layout(shape).recv * shape.type_bytes) {}
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
