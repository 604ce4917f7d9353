// sync_grad_perf: every gradient of a model is averaged over all ranks: one all_reduce each, all
// started, then waited for. Every fourth parameter has no gradient.
#include <optional>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl::collectives {
namespace {

class SyncGrad : public OnGroup {
 public:
  SyncGrad(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape, DataType type)
      : OnGroup(bootstrap, communicator), tensors_(tensor_counts(shape), type) {
    group().set_overlaps(shape.options.in_flight);
  }
  void check() override { primitives::check_parameters(group(), parameters(nullptr)); }
  void run(const Call& call) override {
    copy_input(call, tensors_.bytes());
    primitives::sync_grad(group(), parameters(call.recv));
  }

 private:
  std::span<const primitives::Parameter> parameters(void* gradients) {
    const auto tensors = tensors_.on(gradients);
    parameters_.clear();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (i % 3 == 2) parameters_.push_back({tensors[i], std::nullopt});  // frozen
      parameters_.push_back({tensors[i], tensors[i]});
    }
    return parameters_;
  }

  TensorList tensors_;
  std::vector<primitives::Parameter> parameters_;
};

}  // namespace

const Collective sync_grad = {
    .name = "sync_grad",
    .reduces = true,
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .takes = {.tensors = true, .in_flight = true},
    .ops = average_only,
    .compose = compose<SyncGrad>,
};

}  // namespace ccl::collectives
