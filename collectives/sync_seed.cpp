// sync_seed_perf: every rank gets rank 0's random seed of 4 bytes, whatever size is requested.
// broadcast: by a broadcast, as in mmengine.
// all_gather: by an all-gather of objects of which the first is taken, as in detectron2.
#include <cstdint>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/seeds.hpp"

namespace ccl_tests::collectives {
namespace {

constexpr std::array<DataType, 1> types = {DataType::int32};

Layout layout(const Shape& s) { return replaced(s, 1); }

std::vector<ExpectedBlock> expected(const Shape& /*s*/) { return one_block(0, 1); }

using Synchronize = std::int32_t (*)(primitives::Group&, std::int32_t);

template <Synchronize synchronize>
class SyncSeed : public OnGroup {
 public:
  SyncSeed(ControlChannel& channel, Communicator& communicator, const Shape& /*shape*/,
           DataType /*type*/)
      : OnGroup(channel, communicator) {}
  void run(const Call& call) override {
    std::int32_t seed = 0;
    std::memcpy(&seed, call.send, sizeof seed);
    seed = synchronize(group(), seed);
    std::memcpy(call.recv, &seed, sizeof seed);
  }
};

const Collective by_all_gather = {
    .name = "sync_seed",
    .mode = "all_gather",
    .domain = {.types = types, .fixed_bytes = sizeof(std::int32_t)},
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .make = compose<SyncSeed<primitives::shared_random_seed>>,
    .needs = composite,
};
constexpr std::array<const Collective*, 1> other_modes = {&by_all_gather};

}  // namespace

const Collective sync_seed = {
    .name = "sync_seed",
    .about = "all ranks get one random seed",
    .mode = "broadcast",
    .modes = other_modes,
    .domain = {.types = types, .fixed_bytes = sizeof(std::int32_t)},
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .make = compose<SyncSeed<primitives::sync_random_seed>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
