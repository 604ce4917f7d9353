// all_gather_object_perf: every rank gets every rank's object, whose length the others do not know:
// lengths, then payloads that are padded to the longest.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {
namespace {

void gather_on_all(primitives::Group& group, primitives::Bytes object, int /*root*/,
                   primitives::Objects& result) {
  primitives::all_gather_object(group, object, result);
}

}  // namespace

const Collective all_gather_object = {
    .name = "all_gather_object",
    .about = "every rank gets all ranks' objects",
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return gathered_objects(s, Who::all); },
    .expected = blocks_of_all,
    .bus_factor = beyond_the_smallest,
    .padding_waste = padding_of_parts,
    .scratch = padded_bytes,
    .make = compose<GatheredObjects<Who::all, gather_on_all>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
