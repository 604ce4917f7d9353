// all_gather_object_perf: every rank gets every rank's object, whose length the others do not know:
// lengths, then payloads that are padded to the longest.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  Layout result = gathered(s, true);
  result.in_place.reset();
  return result;
}

class AllGatherObject : public OnGroup {
 public:
  AllGatherObject(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape,
                  DataType /*type*/)
      : OnGroup(bootstrap, communicator), room_(layout(shape).recv * shape.type_bytes) {}
  void check() override {}  // lengths may differ
  void run(const Call& call) override {
    const auto* const send = static_cast<const std::byte*>(call.send);
    primitives::all_gather_object(group(), {send, call.count * size_of(call.type)}, objects_);
    copy_out(objects_, call.recv, room_);
  }

 private:
  std::size_t room_;  // bytes
  primitives::Objects objects_;
};

}  // namespace

const Collective all_gather_object = {
    .name = "all_gather_object",
    .splits = true,
    .layout = layout,
    .expected = blocks_of_all,
    .bus_factor = beyond_the_smallest,
    .takes = {.skew = true},
    .compose = compose<AllGatherObject>,
    .padding_waste = padding_of_parts,
    .scratch = padded_bytes,
};

}  // namespace ccl::collectives
