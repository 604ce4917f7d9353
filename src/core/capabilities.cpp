#include "src/core/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ccl_tests {
namespace {

using enum OperationId;

// Returns what a program calls. Programs that are not named like an operation are messages, or made
// of primitives.
std::vector<OperationId> operations_of(std::string_view program) {
  if (const auto operation = parse_operation(program)) return {*operation};
  if (program == "init") return {all_reduce};
  constexpr std::array<std::string_view, 3> of_messages = {"sendrecv", "pingpong", "hypercube"};
  if (std::find(of_messages.begin(), of_messages.end(), program) != of_messages.end())
    return {transfer};
  return {all_reduce, reduce, broadcast, all_gather, gather, barrier};
}

bool reduces(OperationId operation) {
  return operation == all_reduce || operation == reduce || operation == reduce_scatter ||
         operation == reduce_scatterv;
}

const TypesAndOps* find(const std::vector<TypesAndOps>& rules, DataType type,
                        std::optional<ReduceOp> op) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const TypesAndOps& rule) { return rule.covers(type, op); });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> Capabilities::why_not(DataType type, std::optional<ReduceOp> op) const {
  const TypesAndOps* const rule = find(unsupported, type, op);
  if (rule == nullptr) return std::nullopt;
  return rule->note;
}

std::optional<std::string> Capabilities::why_not(std::string_view program) const {
  for (const OperationId operation : operations_of(program)) {
    if (operations.has(operation)) continue;
    if (!operations.has(transfer))
      return fmt::format("this backend has no {}, and no transfer to compose it from",
                         name(operation));
    if (memory != Memory::host && reduces(operation))
      return fmt::format("this backend has no {}, which is composed on host memory only",
                         name(operation));
  }
  return std::nullopt;
}

bool Capabilities::emulates(std::string_view program, DataType type,
                            std::optional<ReduceOp> op) const {
  const auto used = operations_of(program);
  const bool composed = std::any_of(
      used.begin(), used.end(), [&](OperationId operation) { return !operations.has(operation); });
  return composed || (op && find(emulated, type, op) != nullptr);
}

}  // namespace ccl_tests
