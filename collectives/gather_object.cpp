// gather_object_perf: the root gets every rank's object, whose length it does not know: lengths for
// all, then payloads that are padded to the longest.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  Layout result = gathered(s, is_root(s));
  result.in_place.reset();
  return result;
}

class GatherObject : public OnGroup {
 public:
  GatherObject(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape,
               DataType /*type*/)
      : OnGroup(bootstrap, communicator),
        root_(shape.place.root),
        room_(layout(shape).recv * shape.type_bytes) {}
  void check() override {}  // lengths may differ
  void run(const Call& call) override {
    const auto* const send = static_cast<const std::byte*>(call.send);
    primitives::gather_object(group(), {send, call.count * size_of(call.type)}, root_, objects_);
    copy_out(objects_, call.recv, room_);
  }

 private:
  int root_;
  std::size_t room_;  // bytes
  primitives::Objects objects_;
};

}  // namespace

const Collective gather_object = {
    .name = "gather_object",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected =
        [](const Shape& s) { return is_root(s) ? blocks_of_all(s) : std::vector<Segment>{}; },
    .bus_factor = beyond_the_roots,
    .takes = {.skew = true},
    .compose = compose<GatherObject>,
    .padding_waste = padding_of_parts,
    .scratch = padded_bytes,
};

}  // namespace ccl::collectives
