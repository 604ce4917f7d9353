// gather_object_perf: the root gets every rank's object, whose length it does not know: lengths for
// all, then payloads that are padded to the longest.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {

const Collective gather_object = {
    .name = "gather_object",
    .about = "the root gets all ranks' objects",
    .domain = {.rooted = true},
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return gathered_objects(s, Who::root); },
    .expected = blocks_on_root,
    .bus_factor = beyond_the_roots,
    .padding_waste = padding_of_parts,
    .scratch = padded_bytes,
    .make = compose<GatheredObjects<Who::root, primitives::gather_object>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
