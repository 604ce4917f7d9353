#include "src/inject/arithmetic_fault.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "verify/right_results.hpp"
#include "verify/width.hpp"

namespace ccl_tests {
namespace {

using verify::RightResults;

// A type of fewer bits, to which a result is rounded on its way.
FloatFormat narrower(DataType type) {
  if (type == DataType::float64) return float_format<float>();
  if (type == DataType::float32 || type == DataType::half) return float_format<BFloat16>();
  return float_format<Float8E5M2>();
}

// One element, as bits. inputs: of all ranks. Returns nullopt where the fault changes nothing.
std::optional<std::uint64_t> wrong_element(FaultKind kind, const Call& call,
                                           const std::vector<std::uint64_t>& inputs,
                                           std::uint64_t result) {
  const RightResults right(call.type, call.op, inputs);
  const double found = right.value(result);
  const auto computed = [&](verify::Way way) {
    const std::uint64_t wrong = right.in_rank_order(way);
    return wrong == right.in_rank_order() ? std::nullopt : std::optional(wrong);
  };
  switch (kind) {
    case FaultKind::rounded_toward_zero:
      return computed({.rounding = verify::Rounding::toward_zero});
    case FaultKind::flushed_subnormals: return computed({.flushes = true});
    case FaultKind::saturated: return computed({.saturates = true});
    case FaultKind::integer_order: return right.in_integer_order();
    case FaultKind::skipped_assignment: return inputs[static_cast<std::size_t>(call.self.rank)];
    case FaultKind::one_ulp:
      if (!std::isfinite(found) || !std::isfinite(right.value(result + 1))) return std::nullopt;
      return result + 1;
    case FaultKind::double_rounded: {
      const double rounded = verify::Arithmetic(narrower(call.type)).narrowed(found);
      return std::isfinite(rounded) ? std::optional(right.bits(rounded)) : std::nullopt;
    }
    case FaultKind::ignored_nan: {
      std::vector<std::uint64_t> numbers;
      std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(numbers),
                   [&](std::uint64_t bits) { return !std::isnan(right.value(bits)); });
      if (!std::isnan(found) || numbers.empty()) return std::nullopt;
      return RightResults(call.type, call.op, numbers).in_rank_order();
    }
    default: return std::nullopt;
  }
}

// Do no reading of the standards and no order of the ranks give `wrong` instead of `result`?
bool is_wrong(FaultKind kind, const Call& call, const std::vector<std::uint64_t>& inputs,
              std::uint64_t wrong, std::uint64_t result) {
  const RightResults right(call.type, call.op, inputs);
  const double value = right.value(wrong), before = right.value(result);
  if (value == before || (std::isnan(value) && std::isnan(before))) return false;
  // That one rank alone ignores a NaN is wrong in min and max, too.
  if (kind == FaultKind::ignored_nan || !RightResults::all_orders_known(call.self.ranks))
    return true;
  verify::Observations seen;
  return !right.is_right(wrong, seen);
}

}  // namespace

Operands gather_operands(Communicator& library, Device& device, OperationId operation,
                         const Call& call, std::byte* room) {
  const auto ranks = static_cast<std::size_t>(call.self.ranks);
  const std::size_t width = size_of(call.type);
  const bool scatters = operation != OperationId::all_reduce && operation != OperationId::reduce;
  const auto* block_begin = static_cast<const std::byte*>(call.send);
  Operands operands;
  for (std::size_t block = 0; block < (scatters ? ranks : 1); ++block) {
    const bool of_counts = operation == OperationId::reduce_scatterv;
    const std::size_t count = of_counts ? call.send_counts[block] : call.count;
    const std::size_t first = count / 3;
    Call gather{.recv = room, .type = call.type, .self = call.self};
    gather.send = block_begin + first * width;
    gather.count = std::min(count - first, operand_bytes / ranks / width);
    block_begin += count * width;
    if (gather.count == 0) continue;
    library.all_gather(gather);
    library.wait();
    if (scatters && block != static_cast<std::size_t>(call.self.rank)) continue;
    operands = {first, gather.count, std::vector<std::byte>(ranks * gather.count * width)};
    device.copy(operands.inputs.data(), room, operands.inputs.size());
  }
  return operands;
}

bool spoil_arithmetic(FaultKind kind, const Call& call, const Operands& operands,
                      std::span<std::byte> result) {
  constexpr int most_tries = 1024;  // a try computes all orders
  const verify::StandardArithmetic standard;
  const std::size_t width = size_of(call.type);
  std::vector<std::uint64_t> inputs(static_cast<std::size_t>(call.self.ranks));
  int tries = 0;
  for (std::size_t i = 0; i < operands.count && tries < most_tries; ++i) {
    for (std::size_t r = 0; r < inputs.size(); ++r)
      inputs[r] = verify::bits_at(operands.inputs.data() + (r * operands.count + i) * width, width);
    std::byte* const element = result.data() + (operands.first + i) * width;
    const std::uint64_t found = verify::bits_at(element, width);
    const auto wrong = wrong_element(kind, call, inputs, found);
    if (!wrong || *wrong == found) continue;
    ++tries;
    if (!is_wrong(kind, call, inputs, *wrong, found)) continue;
    std::memcpy(element, &*wrong, width);  // little endian
    return true;
  }
  return false;
}

}  // namespace ccl_tests
