// sync_buffer_perf: every buffer of a model is averaged over all ranks, or replaced by rank 0's.
// Each buffer is one operation; all are started, then waited for.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl_tests::collectives {
namespace {

template <primitives::BufferSync how>
void operate(primitives::Group& group, std::span<const primitives::Tensor> tensors,
             const Call& /*call*/, const CollectiveOptions& /*options*/) {
  primitives::sync_buffer(group, tensors, how);
}

const Collective by_broadcast = {
    .name = "sync_buffer",
    .mode = "broadcast",
    .domain = {.types = floating},
    .flags = {.tensors = true, .async_operations = true},
    .layout = replaced_tensors,
    .expected = tensors_of_root,
    .bus_factor = whole,
    .make = compose<InPlaceOn<TensorList, operate<primitives::BufferSync::broadcast>>>,
    .needs = composite,
};
constexpr std::array<const Collective*, 1> other_modes = {&by_broadcast};

}  // namespace

const Collective sync_buffer = {
    .name = "sync_buffer",
    .about = "a model's buffers become equal on all ranks",
    .mode = "average",
    .modes = other_modes,
    .domain = {.reduces = true, .ops = average_only, .types = floating},
    .flags = {.tensors = true, .async_operations = true},
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .make = compose<InPlaceOn<TensorList, operate<primitives::BufferSync::average>>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
