// broadcast_object_perf: every rank gets the root's list of objects, whose lengths it does not
// know: lengths, then all payloads in one.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<std::size_t> object_counts(const Shape& s) { return divided(s, s.options.objects); }

Layout layout(const Shape& s) {
  return out_of_place(sent_by_root(s, replaced(s, sum(object_counts(s)))));
}

class BroadcastObject : public OnGroup {
 public:
  BroadcastObject(ControlChannel& channel, Communicator& communicator, const Shape& shape,
                  DataType /*type*/)
      : OnGroup(channel, communicator),
        root_(shape.root),
        room_(layout(shape).recv * shape.type_bytes),
        bytes_(object_counts(shape)),
        objects_(bytes_.size()) {
    for (std::size_t& bytes : bytes_) bytes *= shape.type_bytes;
  }
  void check() override { primitives::check_list(group(), objects_.size(), root_); }
  void run(const Call& call) override {
    const auto* at = static_cast<const std::byte*>(call.send);
    for (std::size_t i = 0; group().rank() == root_ && i < objects_.size(); ++i) {
      objects_[i] = {at, bytes_[i]};
      at += bytes_[i];
    }
    primitives::broadcast_object_list(group(), objects_, root_, result_);
    copy_out(result_, call.recv, room_);
  }

 private:
  int root_;
  std::size_t room_;  // bytes
  std::vector<std::size_t> bytes_;
  std::vector<primitives::Bytes> objects_;
  primitives::Objects result_;
};

}  // namespace

const Collective broadcast_object = {
    .name = "broadcast_object",
    .about = "every rank gets the root's objects",
    .domain = {.rooted = true},
    .flags = {.skew = true, .objects = true},
    .layout = layout,
    .expected = [](const Shape& s) { return one_block(s.root, sum(object_counts(s))); },
    .bus_factor = whole,
    .scratch = [](const Shape& s) { return s.count * s.type_bytes; },
    .make = compose<BroadcastObject>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
