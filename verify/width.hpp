// Fill and compare work by the width of the elements; on the host and on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#define CCL_HD __host__ __device__
#else
#define CCL_HD
#endif

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

// Returns the bits of the element at `p`, of at most 8 bytes.
inline std::uint64_t bits_at(const std::byte* p, std::size_t width) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, width);  // little endian
  return bits;
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

// Returns the distance in units in the last place between two finite or infinite floating-point
// values, by their bits.
template <class U>
CCL_HD constexpr std::uint64_t ulp_distance(U a, U b) {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const U oa = static_cast<U>((a & sign) != 0 ? ~a : a | sign);
  const U ob = static_cast<U>((b & sign) != 0 ? ~b : b | sign);
  return oa > ob ? static_cast<U>(oa - ob) : static_cast<U>(ob - oa);
}

}  // namespace ccl_tests::verify
