#include "src/core/reduction.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "src/core/error.hpp"
#include "src/core/small_float.hpp"

namespace ccl_tests {
namespace {

template <class T>
constexpr bool is_small = std::is_class_v<T>;

// Elements of the small types are computed in float.
template <class T>
auto widen(T value) {
  if constexpr (is_small<T>)
    return to_float(value);
  else
    return value;
}
template <class T, class W>
T narrow(W value) {
  if constexpr (is_small<T>)
    return from_float<T>(value);
  else
    return static_cast<T>(value);
}

// Unsigned for integers, so that sums and products wrap.
template <class T>
auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(value);
  else
    return value;
}

template <class Op>
struct Wrapping {
  template <class W>
  auto operator()(W a, W b) const {
    return Op{}(wrapping(a), wrapping(b));
  }
};
template <class W>
bool is_nan(W value) {
  if constexpr (std::is_floating_point_v<W>) return std::isnan(value);
  return false;
}
// A NaN wins on either side: MPI may call an operation with its operands in either order, and ranks
// must get one result.
struct Min {
  template <class W>
  W operator()(W a, W b) const {
    return b < a || is_nan(b) ? b : a;
  }
};
struct Max {
  template <class W>
  W operator()(W a, W b) const {
    return a < b || is_nan(b) ? b : a;
  }
};

template <class T, class Op>
void combine(void* out, const void* a, const void* b, std::size_t count) {
  T* const o = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (std::size_t i = 0; i < count; ++i) o[i] = narrow<T>(Op{}(widen(x[i]), widen(y[i])));
}

template <class T, class Op>
Combine bitwise() {
  if constexpr (std::is_integral_v<T>) return &combine<T, Op>;
  throw Unsupported("bitwise operations are defined on integers only");
}

}  // namespace

Combine combine_function(DataType type, ReduceOp op) {
  return with_type(type, [op]<class T>() -> Combine {
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::mulsum: return &combine<T, Wrapping<std::plus<>>>;
      case ReduceOp::prod: return &combine<T, Wrapping<std::multiplies<>>>;
      case ReduceOp::min: return &combine<T, Min>;
      case ReduceOp::max: return &combine<T, Max>;
      case ReduceOp::band: return bitwise<T, std::bit_and<>>();
      case ReduceOp::bor: return bitwise<T, std::bit_or<>>();
      case ReduceOp::bxor: return bitwise<T, std::bit_xor<>>();
    }
    return nullptr;
  });
}

void reduce(ReduceOp op, DataType type, std::span<std::byte> target,
            std::span<const std::byte> value) {
  if (target.size() != value.size()) throw Error("reduce: the spans differ in length");
  combine_function(type, op)(target.data(), target.data(), value.data(),
                             value.size() / size_of(type));
}

void multiply(DataType type, void* out, const void* in, std::size_t count, int factor) {
  with_type(type, [&]<class T>() {
    T* const o = static_cast<T*>(out);
    const T* const x = static_cast<const T*>(in);
    const auto f = static_cast<decltype(widen(T{}))>(factor);
    for (std::size_t i = 0; i < count; ++i) o[i] = narrow<T>(wrapping(widen(x[i])) * wrapping(f));
  });
}

void divide(DataType type, void* data, std::size_t count, int divisor) {
  with_type(type, [&]<class T>() {
    T* const x = static_cast<T*>(data);
    // A divisor beyond the type's range must not wrap: 64 bits hold every value and every number of
    // ranks.
    using Wide =
        std::conditional_t<!std::is_integral_v<T>, decltype(widen(T{})),
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    const auto d = static_cast<Wide>(divisor);
    for (std::size_t i = 0; i < count; ++i) x[i] = narrow<T>(static_cast<Wide>(widen(x[i])) / d);
  });
}

}  // namespace ccl_tests
