#include "src/primitives/dictionaries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests::primitives {
namespace {

// Returns the dictionary's entries in the order of their keys.
std::span<const Entry*> entries_by_key(Group& group, std::string_view primitive,
                                       std::span<const Entry> dictionary) {
  const auto entries = group.workspace().room<const Entry*>("sorted entries", dictionary.size());
  std::ranges::transform(dictionary, entries.begin(), [](const Entry& entry) { return &entry; });
  std::ranges::sort(entries, {}, &Entry::key);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const auto& [before, tensor_before] = *entries[i - 1];
    const auto& [key, tensor] = *entries[i];
    if (before == key) throw UsageError(fmt::format("{}: key '{}' comes twice", primitive, key));
    if (tensor_before.type != tensor.type)
      throw UsageError(
          fmt::format("{}: '{}' is {} and '{}' is {}; all values of a dictionary have one type",
                      primitive, before, name(tensor_before.type), key, name(tensor.type)));
  }
  return entries;
}

// Reduces a dictionary as one flat tensor. receives: this rank gets the result.
void reduce_flat(Group& group, std::string_view primitive, std::span<const Entry> dictionary,
                 OperationMember operation, ReduceOp op, bool receives) {
  if (dictionary.empty()) return;
  StepClock clock = group.step_clock();
  const auto entries = entries_by_key(group, primitive, dictionary);
  const DataType type = dictionary.front().tensor.type;
  std::size_t count = 0;
  for (const Entry& entry : dictionary) count += entry.tensor.count;
  std::byte* const flat = group.workspace().room<std::byte>("flat", count * size_of(type)).data();
  std::byte* to = flat;
  for (const Entry* entry : entries) to = flatten(entry->tensor, to);
  clock.packing();
  group.run(operation, group.call(flat, flat, count, type, op));
  clock.payload();
  const std::byte* from = flat;
  for (const Entry* entry : entries)
    if (receives) from = unflatten(from, entry->tensor);
  clock.packing();
}

}  // namespace

void all_reduce_dict(Group& group, std::span<const Entry> dictionary, ReduceOp op) {
  reduce_flat(group, "all_reduce_dict", dictionary, &Communicator::all_reduce, op, true);
}

void reduce_dict(Group& group, std::span<const Entry> dictionary, bool average) {
  reduce_flat(group, "reduce_dict", dictionary, &Communicator::reduce,
              average ? ReduceOp::avg : ReduceOp::sum, group.is_main());
}

void average_metrics(Group& group, std::map<std::string, double>& metrics, double weight) {
  StepClock clock = group.step_clock();
  const auto factor = static_cast<float>(weight);
  const auto sums = group.workspace().room<float>("metrics", metrics.size() + 1);
  std::transform(metrics.begin(), metrics.end(), sums.begin(),
                 [&](const auto& metric) { return static_cast<float>(metric.second) * factor; });
  sums.back() = factor;
  clock.packing();
  group.run(&Communicator::all_reduce,
            group.call(sums.data(), sums.data(), sums.size(), DataType::float32));
  clock.payload();
  if (sums.back() == 0) throw UsageError("average_metrics: the ranks' weights sum to 0");
  auto sum = sums.begin();
  for (auto& metric : metrics) metric.second = *sum++ / sums.back();
  clock.packing();
}

}  // namespace ccl_tests::primitives
