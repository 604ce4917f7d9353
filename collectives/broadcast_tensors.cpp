// broadcast_tensors_perf: every tensor of a list is replaced by the root's: one broadcast each, all
// started, then waited for.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl::collectives {
namespace {

class BroadcastTensors : public OnGroup {
 public:
  BroadcastTensors(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape,
                   DataType type)
      : OnGroup(bootstrap, communicator),
        tensors_(tensor_counts(shape), type),
        root_(shape.place.root) {
    group().set_overlaps(shape.options.in_flight);
  }
  void check() override { primitives::check_tensors(group(), tensors_.on(nullptr)); }
  void run(const Call& call) override {
    if (group().rank() == root_) copy_input(call, tensors_.bytes());
    primitives::broadcast_tensors(group(), tensors_.on(call.recv), root_);
  }

 private:
  TensorList tensors_;
  int root_;
};

Layout layout(const Shape& s) {
  Layout result = replaced_tensors(s);
  if (!is_root(s)) result.send = 0;
  return result;
}

std::vector<Segment> expected(const Shape& s) {
  return {{.out = 0, .count = sum(tensor_counts(s)), .from = s.place.root, .at = 0}};
}

}  // namespace

const Collective broadcast_tensors = {
    .name = "broadcast_tensors",
    .rooted = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .takes = {.tensors = true, .in_flight = true},
    .types = floating,
    .compose = compose<BroadcastTensors>,
};

}  // namespace ccl::collectives
