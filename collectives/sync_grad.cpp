// sync_grad_perf: every gradient of a model is averaged over all ranks. Each gradient is one
// all_reduce; all are started, then waited for. Every fourth parameter has no gradient.
#include <optional>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl_tests::collectives {
namespace {

class Parameters {
 public:
  static constexpr auto check = primitives::check_parameters;

  Parameters(const Shape& shape, DataType type) : gradients_(shape, type) {}
  std::span<const primitives::Parameter> on(void* gradients) {
    const auto tensors = gradients_.on(gradients);
    parameters_.clear();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (i % 3 == 2) parameters_.push_back({tensors[i], std::nullopt});  // frozen
      parameters_.push_back({tensors[i], tensors[i]});
    }
    return parameters_;
  }
  std::size_t bytes() const { return gradients_.bytes(); }

 private:
  TensorList gradients_;
  std::vector<primitives::Parameter> parameters_;
};

void operate(primitives::Group& group, std::span<const primitives::Parameter> parameters,
             const Call& /*call*/, const CollectiveOptions& /*options*/) {
  primitives::sync_grad(group, parameters);
}

}  // namespace

const Collective sync_grad = {
    .name = "sync_grad",
    .about = "gradients become their means over all ranks",
    .domain = {.reduces = true, .ops = average_only},
    .flags = {.tensors = true, .async_operations = true},
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .make = compose<InPlaceOn<Parameters, operate>>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
