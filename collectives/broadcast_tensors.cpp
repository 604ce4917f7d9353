// broadcast_tensors_perf: every tensor of a list is replaced by the root's. Each tensor is one
// broadcast; all are started, then waited for.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl_tests::collectives {
namespace {

void operate(primitives::Group& group, std::span<const primitives::Tensor> tensors,
             const Call& call, const CollectiveOptions& /*options*/) {
  primitives::broadcast_tensors(group, tensors, call.root);
}

}  // namespace

const Collective broadcast_tensors = {
    .name = "broadcast_tensors",
    .about = "every rank gets the root's tensors",
    .domain = {.rooted = true, .types = floating},
    .flags = {.tensors = true, .async_operations = true},
    .layout = [](const Shape& s) { return sent_by_root(s, replaced_tensors(s)); },
    .expected = tensors_of_root,
    .bus_factor = whole,
    .make = compose<InPlaceOn<TensorList, operate, Who::root>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
