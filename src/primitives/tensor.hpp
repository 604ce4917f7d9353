// Tensors as the primitives see them: elements in a row.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "src/core/types.hpp"

namespace ccl_tests::primitives {

// The caller's memory. Only the checks of agreement.hpp look at the shape, where there is one; all
// else goes by the number of elements.
struct Tensor {
  void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::span<const std::size_t> shape = {};

  std::size_t bytes() const { return count * size_of(type); }
  bool is_floating() const { return is_floating_point(type); }
};

// A model's parameter, and its gradient where the last step gave it one.
struct Parameter {
  Tensor value;
  std::optional<Tensor> gradient;
};

template <class T>
constexpr DataType type_of() {
  const auto is_it = []<class U>() { return std::is_same_v<T, U>; };
  auto type = DataType::int8;
  while (!with_type(type, is_it)) type = static_cast<DataType>(static_cast<int>(type) + 1);
  return type;
}

// A tensor of a vector's or an array's elements. The shape is the caller's memory too.
template <class Values>
Tensor tensor_of(Values& values, std::span<const std::size_t> shape = {}) {
  const std::span elements(values);
  return {elements.data(), elements.size(), type_of<typename decltype(elements)::value_type>(),
          shape};
}

// Copies a tensor to or from a flat buffer; returns where the next one goes or comes from.
inline std::byte* flatten(const Tensor& tensor, std::byte* to) {
  if (tensor.count > 0) std::memcpy(to, tensor.data, tensor.bytes());
  return to + tensor.bytes();
}
inline const std::byte* unflatten(const std::byte* from, const Tensor& tensor) {
  if (tensor.count > 0) std::memcpy(tensor.data, from, tensor.bytes());
  return from + tensor.bytes();
}

}  // namespace ccl_tests::primitives
