// The parts that specs of primitives share which work in place, on tensors one after the other in a
// buffer.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/composites.hpp"
#include "src/options/values.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/dictionaries.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::collectives {

// Returns the elements of each tensor of a row.
inline std::vector<std::size_t> tensor_counts(const Shape& s) {
  return scaled(s.options.tensors, s.count);
}

// Tensors that lie one after the other in a buffer.
class TensorList {
 public:
  static constexpr auto check = primitives::check_tensors;

  TensorList(const std::vector<std::size_t>& counts, DataType type) {
    for (const std::size_t count : counts) tensors_.push_back({nullptr, count, type, {}});
  }
  TensorList(const Shape& shape, DataType type) : TensorList(tensor_counts(shape), type) {}
  std::span<const primitives::Tensor> on(void* buffer) {
    auto* at = static_cast<std::byte*>(buffer);
    for (primitives::Tensor& tensor : tensors_) {
      tensor.data = at;
      if (at != nullptr) at += tensor.bytes();  // a shape alone has no buffers
    }
    return tensors_;
  }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (const primitives::Tensor& tensor : tensors_) all += tensor.bytes();
    return all;
  }

 private:
  std::vector<primitives::Tensor> tensors_;
};

// Runs operate(group, list on the receive buffer, call, options). List: TensorList, or a class with
// the same members. senders: whose input the operation reads.
template <class List, auto operate, Who senders = Who::all>
class InPlaceOn : public OnGroup {
 public:
  InPlaceOn(ControlChannel& channel, Communicator& communicator, const Shape& shape, DataType type)
      : OnGroup(channel, communicator), list_(shape, type), options_(shape.options) {
    group().set_overlaps(options_.async_operations);
  }
  void check() override { List::check(group(), list_.on(nullptr)); }
  void run(const Call& call) override {
    if (senders == Who::all || call.self.rank == call.root) copy_input(call, list_.bytes());
    operate(group(), list_.on(call.recv), call, options_);
  }

 private:
  List list_;
  const CollectiveOptions& options_;
};

inline Layout replaced_tensors(const Shape& s) { return replaced(s, sum(tensor_counts(s))); }

inline std::vector<ExpectedBlock> all_reduced_tensors(const Shape& s) {
  return reduction(sum(tensor_counts(s)));
}
// The root is rank 0 if the collective is not rooted.
inline std::vector<ExpectedBlock> tensors_of_root(const Shape& s) {
  return one_block(s.root, sum(tensor_counts(s)));
}

inline std::vector<std::size_t> entry_counts(const Shape& s) {
  return divided(s, s.options.objects);
}

// The dictionaries of all_reduce_dict and reduce_dict: entries whose tensors lie one after the
// other in a buffer, in the order of their keys. The list of rank r begins with entry r.
class Dictionary {
 public:
  static constexpr auto check = primitives::check_dictionary;

  Dictionary(const Shape& shape, DataType type) : list_(entry_counts(shape), type) {
    const std::size_t keys = shape.options.objects;
    for (std::size_t i = 0; i < keys; ++i) {
      const std::size_t key = (i + rank(shape)) % keys;
      order_.push_back(key);
      entries_.push_back({fmt::format("tensor {:07}", key), {}});
    }
  }
  std::span<const primitives::Entry> on(void* buffer) {
    const auto tensors = list_.on(buffer);
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].tensor = tensors[order_[i]];
    return entries_;
  }
  std::size_t bytes() const { return list_.bytes(); }

 private:
  TensorList list_;
  std::vector<std::size_t> order_;
  std::vector<primitives::Entry> entries_;
};

inline Layout replaced_entries(const Shape& s) { return replaced(s, sum(entry_counts(s))); }

inline std::vector<ExpectedBlock> reduced_entries(const Shape& s) {
  return reduction(sum(entry_counts(s)));
}

}  // namespace ccl_tests::collectives
