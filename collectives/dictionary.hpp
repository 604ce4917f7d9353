// The dictionaries of all_reduce_dict and reduce_dict.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/in_place.hpp"
#include "src/primitives/dictionaries.hpp"

namespace ccl_tests::collectives {

inline std::vector<std::size_t> entry_counts(const Shape& s) {
  return divided(s, s.options.objects);
}

// Entries whose tensors lie one after the other in a buffer, in the order of their keys. The list
// of rank r begins with entry r.
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
  return {{.recv_offset = 0, .count = sum(entry_counts(s))}};
}

}  // namespace ccl_tests::collectives
