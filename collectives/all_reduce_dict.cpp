// all_reduce_dict_perf: the tensors of equal keys are reduced over all ranks, in one operation.
// Every rank lists its keys in another order.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {
namespace {

void operate(primitives::Group& group, std::span<const primitives::Entry> dictionary,
             const Call& call, const CollectiveOptions& /*options*/) {
  primitives::all_reduce_dict(group, dictionary, call.op);
}

}  // namespace

const Collective all_reduce_dict = {
    .name = "all_reduce_dict",
    .about = "tensors of equal keys are reduced together",
    .domain = {.reduces = true},
    .flags = {.skew = true, .objects = true},
    .layout = replaced_entries,
    .expected = reduced_entries,
    .bus_factor = reduced_and_gathered,
    .scratch = [](const Shape& s) { return s.count * s.type_bytes; },
    .make = compose<InPlaceOn<Dictionary, operate>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
