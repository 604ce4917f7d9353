#include "src/primitives/dictionaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/core/communicator.hpp"

namespace ccl_tests::primitives {
namespace {

// A dictionary's tensors one after the other, in the order of their keys.
class Flat {
 public:
  Flat(Group& group, std::string_view operation, std::span<const Entry> dictionary)
      : dictionary_(dictionary),
        order_(group.workspace().room<std::size_t>("order of keys", dictionary.size())) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return dictionary[a].key < dictionary[b].key; });
    check(operation);
    for (const Entry& entry : dictionary) count_ += entry.tensor.count;
    data_ = group.workspace().room<std::byte>("flat", count_ * size_of(type())).data();
    std::byte* to = data_;
    for (const std::size_t i : order_) to = flatten(dictionary[i].tensor, to);
  }

  Call call(const Group& group, ReduceOp op) const {
    return group.call(data_, data_, count_, type(), op);
  }

  void put_back() const {
    const std::byte* from = data_;
    for (const std::size_t i : order_) from = unflatten(from, dictionary_[i].tensor);
  }

 private:
  DataType type() const { return dictionary_.front().tensor.type; }

  void check(std::string_view operation) const {
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const Entry& before = dictionary_[order_[i - 1]];
      const Entry& entry = dictionary_[order_[i]];
      if (before.key == entry.key)
        throw UsageError(fmt::format("{}: key '{}' comes twice", operation, entry.key));
      if (before.tensor.type != entry.tensor.type) {
        throw UsageError(fmt::format(
            "{}: '{}' is {} and '{}' is {}; all values of a dictionary have one type", operation,
            before.key, name(before.tensor.type), entry.key, name(entry.tensor.type)));
      }
    }
  }

  std::span<const Entry> dictionary_;
  std::span<std::size_t> order_;
  std::size_t count_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace

void all_reduce_dict(Group& group, std::span<const Entry> dictionary, ReduceOp op) {
  if (dictionary.empty()) return;
  StepClock clock = group.step_clock();
  const Flat flat(group, "all_reduce_dict", dictionary);
  clock.packing();
  group.communicator().all_reduce(flat.call(group, op));
  group.communicator().wait();
  clock.payload();
  flat.put_back();
  clock.packing();
}

void reduce_dict(Group& group, std::span<const Entry> dictionary, bool average) {
  if (dictionary.empty()) return;
  StepClock clock = group.step_clock();
  const Flat flat(group, "reduce_dict", dictionary);
  clock.packing();
  group.communicator().reduce(flat.call(group, average ? ReduceOp::avg : ReduceOp::sum));
  group.communicator().wait();
  clock.payload();
  if (group.is_main()) flat.put_back();
  clock.packing();
}

void average_metrics(Group& group, std::map<std::string, double>& metrics, double weight) {
  StepClock clock = group.step_clock();
  const auto factor = static_cast<float>(weight);
  const auto sums = group.workspace().room<float>("metrics", metrics.size() + 1);
  std::transform(metrics.begin(), metrics.end(), sums.begin(),
                 [&](const auto& metric) { return static_cast<float>(metric.second) * factor; });
  sums.back() = factor;
  clock.packing();
  group.communicator().all_reduce(
      group.call(sums.data(), sums.data(), sums.size(), DataType::float32));
  group.communicator().wait();
  clock.payload();
  if (sums.back() == 0) throw UsageError("average_metrics: the ranks' weights sum to 0");
  auto sum = sums.begin();
  for (auto& metric : metrics) metric.second = *sum++ / sums.back();
  clock.packing();
}

}  // namespace ccl_tests::primitives
