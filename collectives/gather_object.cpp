// gather_object_perf: the root gets every rank's object, whose length it does not know: lengths for
// all, then payloads that are padded to the longest.
#include "collectives/collectives.hpp"
#include "collectives/gathered_objects.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) { return gathered_objects(s, is_root(s)); }

}  // namespace

const Collective gather_object = {
    .name = "gather_object",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected =
        [](const Shape& s) { return is_root(s) ? blocks_of_all(s) : std::vector<ExpectedBlock>{}; },
    .bus_factor = beyond_the_roots,
    .takes = {.skew = true},
    .compose = compose<GatheredObjects<layout, primitives::gather_object>>,
    .padding_waste = padding_of_parts,
    .scratch = padded_bytes,
};

}  // namespace ccl_tests::collectives
