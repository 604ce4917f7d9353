#include "src/core/collective.hpp"

namespace ccl_tests {

OperationSet operations_of(const Collective& collective) {
  const auto operation = parse_operation(collective.name);
  return collective.needs.operations.empty() && operation ? OperationSet{*operation}
                                                          : collective.needs.operations;
}

}  // namespace ccl_tests
