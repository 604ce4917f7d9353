#include "src/run/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/options/alltoallv_options.hpp"
#include "src/run/row_bytes.hpp"
#include "src/run/slots.hpp"

namespace ccl_tests {

std::size_t buffer_limit(std::size_t available, std::size_t ranks, double scratch) {
  const std::size_t reserve = std::min<std::size_t>(available / 10, std::size_t{2} << 30);
  const double buffers = (2 + scratch) * static_cast<double>(std::max<std::size_t>(1, ranks));
  return static_cast<std::size_t>(static_cast<double>(available - reserve) / buffers);
}

SizePlan limit_sizes(const Collective& collective, const Options& o, int ranks, std::size_t limit) {
  if (collective.synchronizes) return {{0}, std::nullopt};
  if (collective.fixed_bytes) return {{*collective.fixed_bytes}, std::nullopt};
  std::size_t widest = 1;
  for (const DataType type : o.sweep.types) widest = std::max(widest, size_of(type));
  SizePlan plan;
  std::size_t smallest = 0;
  for (const std::size_t size : sweep_sizes(o.sweep)) {
    const Shape shape{size / widest, widest, {0, ranks}, o.spec};
    std::size_t bytes = buffer_bytes(row_bytes(collective, shape).region, o.sweep.unalign * widest);
    if (collective.scratch != nullptr) bytes += collective.scratch(shape) / 2;  // of two buffers
    if (bytes <= limit) {
      plan.sizes.push_back(size);
    } else {
      plan.reduced_max = limit;
      smallest = bytes;
    }
  }
  if (plan.reduced_max && collective.scratch != nullptr && !plan.sizes.empty())
    plan.reduced_max = plan.sizes.back();  // a buffer may be larger: other memory is what is short
  if (plan.sizes.empty()) {
    throw Unsupported(fmt::format(
        "no size fits into memory: a buffer of {} B is needed, {} B are to be had per buffer",
        smallest, limit));
  }
  return plan;
}

}  // namespace ccl_tests
