// all_reduce_params_perf: every tensor of a list is reduced over all ranks; tensors travel together
// in buckets.
#include <cstdint>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl_tests::collectives {
namespace {

// Returns the largest size of a bucket in bytes, -1 for no limit.
std::int64_t bucket_bytes(double mib) {
  constexpr double bytes = 1 << 20;
  constexpr double most = 1e18;
  if (mib < 0) return -1;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(mib * bytes, most)));
}

void operate(primitives::Group& group, std::span<const primitives::Tensor> tensors,
             const Call& call, const CollectiveOptions& options) {
  primitives::all_reduce_params(group, tensors, options.bucket_mib != 0,
                                bucket_bytes(options.bucket_mib), call.op);
}

}  // namespace

const Collective all_reduce_params = {
    .name = "all_reduce_params",
    .about = "a list of tensors is reduced in buckets",
    .domain = {.reduces = true},
    .flags = {.tensors = true, .buckets = true},
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .scratch = [](const Shape& s) { return s.count * s.type_bytes; },
    .make = compose<InPlaceOn<TensorList, operate>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
