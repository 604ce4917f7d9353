#include "src/backends/textbook.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/core/error.hpp"

namespace ccl_tests::textbook {
namespace {

template <class T>
T load(const std::string& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T combine(ReduceOp op, T a, T b) {
  if constexpr (is_float<T>) {
    const double x = to_double<T>(a);
    const double y = to_double<T>(b);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::mulsum: return from_double<T>(x + y);
      case ReduceOp::prod: return from_double<T>(x * y);
      case ReduceOp::min: return x < y ? a : b;
      case ReduceOp::max: return x > y ? a : b;
      case ReduceOp::band:
      case ReduceOp::bor:
      case ReduceOp::bxor: break;
    }
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::mulsum: return static_cast<T>(x + y);
      case ReduceOp::prod: return static_cast<T>(x * y);
      case ReduceOp::min: return std::min(a, b);
      case ReduceOp::max: return std::max(a, b);
      case ReduceOp::band: return static_cast<T>(x & y);
      case ReduceOp::bor: return static_cast<T>(x | y);
      case ReduceOp::bxor: return static_cast<T>(x ^ y);
    }
  }
  throw Unsupported("bitwise operations are defined on integers only");
}

// x * factor before a mulsum, x / factor after an avg.
template <class T>
T scale(T value, int factor, bool divide) {
  if constexpr (is_float<T>) {
    const double x = to_double<T>(value);
    return from_double<T>(divide ? x / factor : x * factor);
  } else if (divide) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(value) / factor);
    return static_cast<T>(static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(factor));
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(factor));
  }
}

template <class T>
void reduce_as(std::byte* out, std::span<const std::string> inputs, std::size_t first,
               std::size_t count, ReduceOp op) {
  for (std::size_t k = 0; k < count; ++k) {
    T result{};
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      T value = load<T>(inputs[rank], first + k);
      if (op == ReduceOp::mulsum)
        value = scale(value, mulsum_scalar(static_cast<int>(rank)), false);
      result = rank == 0 ? value : combine(op, result, value);
    }
    if (op == ReduceOp::avg) result = scale(result, static_cast<int>(inputs.size()), true);
    std::memcpy(out + k * sizeof(T), &result, sizeof(T));
  }
}

}  // namespace

void reduce(std::byte* out, std::span<const std::string> inputs, std::size_t first,
            std::size_t count, DataType type, ReduceOp op) {
  with_type(type, [&]<class T>() { reduce_as<T>(out, inputs, first, count, op); });
}

}  // namespace ccl_tests::textbook
