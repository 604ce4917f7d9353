// Fill and compare work by the width of the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ccl_tests::verify {

// The unsigned integer that is as wide as T.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// The value at `p`, which need not be aligned.
template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Calls f with an unsigned integer of `width` bytes: with_width(width, [&]<class U>() { ... }).
template <class F>
decltype(auto) with_width(std::size_t width, F&& f) {
  switch (width) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    default: return f.template operator()<std::uint64_t>();
  }
}

}  // namespace ccl_tests::verify
