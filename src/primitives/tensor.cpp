#include "src/primitives/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ccl_tests::primitives {

std::string to_text(const Tensor& tensor) {
  if (tensor.shape.empty()) return fmt::format("{}[{}]", name(tensor.type), tensor.count);
  return fmt::format("{}[{}]", name(tensor.type), fmt::join(tensor.shape, ", "));
}

}  // namespace ccl_tests::primitives
