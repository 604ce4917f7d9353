// reduce_dict_perf: the tensors of equal keys are reduced to rank 0, in one operation, and averaged
// there. Every rank lists its keys in another order.
#include "collectives/collectives.hpp"
#include "collectives/dictionary.hpp"
#include "src/primitives/dictionaries.hpp"

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
    .reduces = true,
    .layout = replaced_entries,
    .expected =
        [](const Shape& s) {
          return is_root(s) ? reduced_entries(s) : std::vector<ExpectedBlock>{};
        },
    .bus_factor = whole,
    .takes = {.skew = true, .objects = true},
    .ops = ops,
    .compose = compose<InPlaceOn<Dictionary, operate>>,
    .scratch = [](const Shape& s) { return 2 * s.count * s.type_bytes; },
};

}  // namespace ccl_tests::collectives
