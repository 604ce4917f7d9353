// reduce_dict_perf: the tensors of equal keys are reduced to rank 0, in one operation, and averaged
// there. Every rank lists its keys in another order.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {
namespace {

constexpr std::array<ReduceOp, 2> ops = {ReduceOp::avg, ReduceOp::sum};

void operate(primitives::Group& group, std::span<const primitives::Entry> dictionary,
             const Call& call, const CollectiveOptions& /*options*/) {
  primitives::reduce_dict(group, dictionary, call.op == ReduceOp::avg);
}

}  // namespace

const Collective reduce_dict = {
    .name = "reduce_dict",
    .about = "the root gets the reduction of equal keys",
    .domain = {.reduces = true, .ops = ops},
    .flags = {.skew = true, .objects = true},
    .layout = replaced_entries,
    .expected = [](const Shape& s) { return is_root(s) ? reduced_entries(s) : nothing(s); },
    .bus_factor = whole,
    .scratch = [](const Shape& s) { return 2 * s.count * s.type_bytes; },
    .make = compose<InPlaceOn<Dictionary, operate>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
