#include "tools/selftest/library_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace ccl_tests::selftest {
namespace {

std::string line(std::string_view what, const std::vector<std::string_view>& operations) {
  if (operations.empty()) return {};
  return fmt::format("# {}: {}\n", what, fmt::join(operations, ", "));
}

// "avg of every type: sum, then divide"
std::string lines(std::string_view what, const std::vector<TypesAndOps>& rules) {
  std::string text;
  for (const TypesAndOps& rule : rules)
    text += fmt::format("# {}: {} of {}: {}\n", what, rule.op ? name(*rule.op) : "all",
                        rule.type ? name(*rule.type) : "every type", rule.note);
  return text;
}

}  // namespace

std::string library_text(const Capabilities& library) {
  std::vector<std::string_view> made, composed, missing;
  for (const OperationId operation : all_operations()) {
    auto& list = library.operations.has(operation)          ? made
                 : library.why_not({operation}).has_value() ? missing
                                                            : composed;
    list.push_back(name(operation));
  }
  return line("implements", made) + line("composed from messages", composed) +
         line("lacks", missing) + lines("composed by the backend", library.emulated) +
         lines("lacks", library.unsupported);
}

}  // namespace ccl_tests::selftest
