// Arithmetic in the suite's types, rounded to the type after every step: what a library does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/core/types.hpp"

namespace ccl_tests {

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);  // little endian
  return value;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
auto number(T value) {  // something that < orders
  if constexpr (is_float<T>) {
    return to_double(value);
  } else {
    return value;
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (is_float<T>) {
    return from_double<T>(to_double(a) * to_double(b));
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
}

template <class T>
T plus(T a, T b) {
  if constexpr (is_float<T>) {
    return from_double<T>(to_double(a) + to_double(b));
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
}

template <class T>
T combine_bits(ReduceOp op, T a, T b) {
  const std::uint64_t x = bits_of(a);
  const std::uint64_t y = bits_of(b);
  return from_bits<T>(op == ReduceOp::band ? x & y : op == ReduceOp::bor ? x | y : x ^ y);
}

// One step of a reduction.
template <class T>
T combine(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::prod: return times(a, b);
    case ReduceOp::min: return number(b) < number(a) ? b : a;
    case ReduceOp::max: return number(a) < number(b) ? b : a;
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::mulsum: return plus(a, b);
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor: return combine_bits(op, a, b);
  }
  return a;
}

// mulsum: a rank's input times its scalar.
template <class T>
T scaled(ReduceOp op, int rank, T value) {
  if (op != ReduceOp::mulsum) return value;
  if constexpr (is_float<T>) {
    return times(value, from_double<T>(mulsum_scalar(rank)));
  } else {
    return times(value, static_cast<T>(mulsum_scalar(rank)));
  }
}

// Distance in units in the last place, by counting representable values; T's values are finite.
template <class T>
std::uint64_t units_apart(T a, T b) {
  const auto place = [](T value) {
    const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    const std::uint64_t bits = bits_of(value);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  const std::int64_t pa = place(a);
  const std::int64_t pb = place(b);
  return pa > pb ? static_cast<std::uint64_t>(pa) - static_cast<std::uint64_t>(pb)
                 : static_cast<std::uint64_t>(pb) - static_cast<std::uint64_t>(pa);
}

}  // namespace ccl_tests
