// check_tensors_perf: all ranks find out, by an all_reduce of 8 bytes, whether they have the same
// number of tensors. Nothing is delivered. Before every row, the check is tried on ranks that
// differ.
#include <cstdint>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl_tests::collectives {
namespace {

constexpr std::array<DataType, 1> types = {DataType::int64};

Layout layout(const Shape& s) {
  return {.send = 0, .recv = 0, .count = 1, .table_count = 1, .algbw_bytes = s.type_bytes};
}

class CheckTensors : public OnGroup {
 public:
  CheckTensors(ControlChannel& channel, Communicator& communicator, const Shape& shape,
               DataType /*type*/)
      : OnGroup(channel, communicator), tensors_(shape.options.tensors.size()) {}

  // Throws Error if the primitive does not detect that the last rank claims one tensor more than it
  // has.
  void check() override {
    if (!group().is_distributed()) return;
    const bool liar = group().rank() == group().ranks() - 1;
    try {
      primitives::check_number_of_tensors(group(), tensors_ + (liar ? 1 : 0));
    } catch (const primitives::Disagreement&) {
      return;
    }
    throw Error("check_number_of_tensors did not detect a rank with one tensor more");
  }
  void run(const Call& /*call*/) override {
    primitives::check_number_of_tensors(group(), tensors_);
  }

 private:
  std::size_t tensors_;
};

}  // namespace

const Collective check_tensors = {
    .name = "check_tensors",
    .about = "do all ranks have equally many tensors?",
    .domain = {.types = types, .fixed_bytes = sizeof(std::int64_t)},
    .flags = {.tensors = true},
    .layout = layout,
    .expected = nothing,
    .bus_factor = reduced_and_gathered,
    .make = compose<CheckTensors>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
