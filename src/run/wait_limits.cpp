#include "src/run/wait_limits.hpp"

#include <algorithm>

namespace ccl_tests {

WaitLimits wait_limits(const Options& o, const Problem& p) {
  constexpr double practically_none_s = 1e6;
  constexpr double later_s = 5;
  constexpr double tensor_s = 0.01;  // of an operation each, if a call is made of many
  if (o.job.timeout_s <= 0) return {.exchange_s = practically_none_s};
  const auto region = static_cast<double>(p.bytes.region);
  const double tensors =
      p.collective->flags.tensors ? static_cast<double>(o.spec.tensors.size()) : 0;
  WaitLimits limits;
  limits.operation_s =
      o.job.timeout_s + region * p.shape.self.ranks / 1e6 + tensors * tensor_s + later_s;
  const double calls =
      std::max(2.0, static_cast<double>(o.measure.iterations) * o.measure.aggregate);
  limits.exchange_s = calls * (o.job.timeout_s + region / 1e6) + o.measure.row_time_s;
  limits.block_s = limits.exchange_s / 4;
  limits.agreement_s = limits.operation_s + 2 * limits.exchange_s + o.backend.init_timeout_s;
  return limits;
}

}  // namespace ccl_tests
