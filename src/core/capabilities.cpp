#include "src/core/capabilities.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool Capabilities::suite_combines(const OperationSet& used, DataType type, ReduceOp op) const {
  const auto all = used.list();
  const bool composed = std::any_of(all.begin(), all.end(), [&](OperationId operation) {
    return reducing_operations.has(operation) && !operations.has(operation);
  });
  return composed || find(emulated, type, op) != nullptr ||
         find(combined_by_suite, type, op) != nullptr;
}

std::string Capabilities::arithmetic(const OperationSet& used, std::string_view library) const {
  using Cell = std::pair<DataType, ReduceOp>;
  std::vector<Cell> librarys, suites;
  for (const DataType type : all_types())
    for (const ReduceOp op : ops_of(type))
      if (!why_not(type, op))
        (suite_combines(used, type, op) ? suites : librarys).emplace_back(type, op);
  if (librarys.empty()) return "the suite's";
  std::vector<std::string> words;
  // Takes those that `is_in` selects from the suite's, if the library has none of them.
  const auto take = [&](std::string_view word, auto is_in) {
    if (std::any_of(librarys.begin(), librarys.end(), is_in)) return;
    if (std::erase_if(suites, is_in) > 0) words.emplace_back(word);
  };
  for (const DataType type : all_types())
    take(name(type), [&](const Cell& cell) { return cell.first == type; });
  for (const ReduceOp op : all_ops())
    take(name(op), [&](const Cell& cell) { return cell.second == op; });
  const std::size_t common = all_ops().size();
  take("bitwise",
       [&](const Cell& cell) { return static_cast<std::size_t>(cell.second) >= common; });
  for (const auto& [type, op] : suites) words.push_back(fmt::format("{} {}", name(type), name(op)));
  if (words.empty()) return fmt::format("{}'s", library);
  return fmt::format("{}'s; the suite's for {}", library, fmt::join(words, ", "));
}

}  // namespace ccl_tests
