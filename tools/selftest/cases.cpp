#include "tools/selftest/cases.hpp"

#include <algorithm>

#include "collectives/collectives.hpp"

namespace ccl_tests::selftest {
namespace {

using enum FaultKind;

OperationId operation_of(const Collective& collective) {
  return parse_operation(collective.name).value_or(OperationId::transfer);
}

}  // namespace

std::vector<const Collective*> tested_programs() {
  std::vector<const Collective*> programs;
  for (const Collective* collective : collectives::all()) {
    const Needs& needs = collective->needs;
    const bool one_operation = needs.operations.empty()
                                   ? parse_operation(collective->name).has_value()
                                   : needs.operations.list() == std::vector{OperationId::transfer};
    if (one_operation && !needs.synchronizes && !needs.own_buffers && !collective->domain.paired)
      programs.push_back(collective);
  }
  return programs;
}

std::vector<std::size_t> default_sizes() {
  return {0, 1, 8, 24, 4088, 4096, 4104, 8 * 1009, 8 * 65539};
}

Fault fault_of(FaultKind kind, const Collective& collective, int ranks, std::size_t number,
               std::size_t calls) {
  const OperationId operation = operation_of(collective);
  const bool of_input =
      kind == missing_contribution || kind == doubled_contribution || kind == changed_input;
  const bool at_root = of_input ? sent_by_root.has(operation) : received_by_root.has(operation);
  Fault fault;
  fault.kind = kind;
  fault.rank = at_root ? 0 : ranks - 1;
  const std::size_t least = kind == stale_result ? 2 : 1;  // a call that has another one before it
  fault.call = least + number % std::max<std::size_t>(1, calls - (least - 1));
  return fault;
}

std::optional<std::string> why_harmless(FaultKind kind, const Collective& collective,
                                        const SweepPoint& point, int ranks) {
  return ccl_tests::why_harmless(kind, operation_of(collective), point.type,
                                 point.op.value_or(ReduceOp::sum), ranks);
}

std::optional<bool> is_named(FaultKind kind, const Collective& collective, const Mismatch& found) {
  const auto says = [&](std::string_view words) {
    return found.explanation.find(words) != std::string::npos;
  };
  switch (kind) {
    case flipped_bit:
    case flipped_sign: return found.wrong == 1;
    case stale_result: return says("earlier call");
    case missing_contribution:
      if (!collective.domain.reduces) return std::nullopt;
      return says("without rank");
    case swapped_blocks:
    case shifted_block: return says("instead of rank") || says("like ");
    case truncated_tail: return found.wrong == 1;
    case written_behind: return says("past the end");
    case written_before: return says("before the buffer");
    case changed_input: return says("send buffer");
    default: return std::nullopt;
  }
}

}  // namespace ccl_tests::selftest
