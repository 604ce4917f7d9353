// sync_buffer_perf: every buffer of a model is averaged over all ranks, or replaced by rank 0's:
// one operation each, all started, then waited for.
#include "collectives/collectives.hpp"
#include "collectives/in_place.hpp"
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
    .layout = replaced_tensors,
    .expected = tensors_of_root,
    .bus_factor = whole,
    .mode = "broadcast",
    .takes = {.tensors = true, .async_operations = true},
    .types = floating,
    .compose = compose<InPlaceOn<TensorList, operate<primitives::BufferSync::broadcast>>>,
};
constexpr std::array<const Collective*, 1> other_modes = {&by_broadcast};

}  // namespace

const Collective sync_buffer = {
    .name = "sync_buffer",
    .reduces = true,
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .mode = "average",
    .modes = other_modes,
    .takes = {.tensors = true, .async_operations = true},
    .ops = average_only,
    .types = floating,
    .compose = compose<InPlaceOn<TensorList, operate<primitives::BufferSync::average>>>,
};

}  // namespace ccl_tests::collectives
