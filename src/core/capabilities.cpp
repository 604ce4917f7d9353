#include "src/core/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests {
namespace {

const TypesAndOps* find(const std::vector<TypesAndOps>& rules, DataType type,
                        std::optional<ReduceOp> op) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const TypesAndOps& rule) {
    return (!rule.type || rule.type == type) && (!rule.op || rule.op == op);
  });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> Capabilities::why_not(DataType type, std::optional<ReduceOp> op) const {
  const TypesAndOps* const rule = find(unsupported, type, op);
  if (rule == nullptr) return std::nullopt;
  return rule->note;
}

std::optional<std::string> Capabilities::why_not(const OperationSet& used) const {
  for (const OperationId operation : used.list()) {
    if (operations.has(operation)) continue;
    if (!operations.has(OperationId::transfer))
      return fmt::format("this backend has no {}, and no transfer to compose it from",
                         name(operation));
    if (memory != Memory::host && reducing_operations.has(operation))
      return fmt::format("this backend has no {}, which is composed on host memory only",
                         name(operation));
  }
  return std::nullopt;
}

bool Capabilities::emulates(const OperationSet& used, DataType type,
                            std::optional<ReduceOp> op) const {
  const auto all = used.list();
  const bool composed = std::any_of(
      all.begin(), all.end(), [&](OperationId operation) { return !operations.has(operation); });
  return composed || (op && find(emulated, type, op) != nullptr);
}

}  // namespace ccl_tests
