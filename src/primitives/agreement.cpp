#include "src/primitives/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ccl_tests::primitives {
namespace {

// Returns "float[2, 3]"; without a shape "float[6]".
std::string to_text(const Tensor& tensor) {
  if (tensor.shape.empty()) return fmt::format("{}[{}]", name(tensor.type), tensor.count);
  return fmt::format("{}[{}]", name(tensor.type), fmt::join(tensor.shape, ", "));
}

}  // namespace

void check_agreement(Group& group, std::string_view operation,
                     const std::vector<NamedValue>& terms) {
  if (const auto why = disagreement(group.channel(), group.limit_s(), operation, terms))
    throw Disagreement(*why);
}

void check_list(Group& group, std::size_t objects, int src) {
  check_agreement(
      group, "check_list",
      {{"the number of objects", std::to_string(objects)}, {"the source", std::to_string(src)}});
}

void check_dictionary(Group& group, std::span<const Entry> dictionary) {
  std::vector<NamedValue> terms;
  for (const Entry& entry : dictionary)
    terms.push_back({fmt::format("key '{}'", entry.key), to_text(entry.tensor)});
  std::ranges::stable_sort(terms, {}, &NamedValue::name);
  for (std::size_t i = 1; i < terms.size(); ++i)
    if (terms[i].name == terms[i - 1].name) terms[i - 1].name += ", again,";
  check_agreement(group, "check_dictionary", terms);
}

void check_metrics(Group& group, const std::map<std::string, double>& metrics) {
  std::vector<NamedValue> terms;
  for (const auto& metric : metrics) terms.push_back({fmt::format("'{}'", metric.first), "there"});
  check_agreement(group, "check_metrics", terms);
}

void check_tensors(Group& group, std::span<const Tensor> tensors) {
  std::vector<NamedValue> terms{{"the number of tensors", std::to_string(tensors.size())}};
  for (std::size_t i = 0; i < tensors.size(); ++i)
    terms.push_back({fmt::format("tensor {}", i), to_text(tensors[i])});
  check_agreement(group, "check_tensors", terms);
}

void check_parameters(Group& group, std::span<const Parameter> parameters) {
  std::vector<NamedValue> terms{{"the number of parameters", std::to_string(parameters.size())}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& gradient = parameters[i].gradient;
    terms.push_back({fmt::format("the gradient of parameter {}", i),
                     gradient ? to_text(*gradient) : "not there"});
  }
  check_agreement(group, "check_parameters", terms);
}

}  // namespace ccl_tests::primitives
