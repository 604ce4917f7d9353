// half, bfloat16 and 8-bit floats to and from float, fast enough for a reduction's inner loop.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "src/core/types.hpp"

namespace ccl_tests {

// Rounds to nearest even to `fraction` stored bits. infinity: the bits of the first magnitude that
// overflows; overflow: what it becomes; nan: what NaN becomes.
template <int fraction, int bias, std::uint32_t infinity, std::uint32_t overflow, std::uint32_t nan,
          int width>
std::uint32_t encode_small(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 << (width - 1);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  constexpr int shift = 23 - fraction;
  constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(128 - bias) << 23;
  std::uint32_t small = 0;
  if (magnitude < smallest_normal) {
    // Adding a power of two whose last place is the format's smallest subnormal rounds there, ties
    // to even.
    constexpr float magic =
        std::bit_cast<float>(static_cast<std::uint32_t>(128 - bias + shift) << 23);
    small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + magic) -
            std::bit_cast<std::uint32_t>(magic);
  } else {
    const std::uint32_t half_ulp = (1U << (shift - 1)) - 1 + ((magnitude >> shift) & 1U);
    small =
        ((magnitude + half_ulp) >> shift) - (static_cast<std::uint32_t>(127 - bias) << fraction);
    if (small >= infinity) small = overflow;
  }
  return sign | (magnitude > 0x7f800000U ? nan : small);
}

inline float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7fffU) << 13;
  // Scaling by 2^112 moves the exponent's bias and makes subnormals normal.
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}
inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
template <class T>
std::array<float, 256> decode_table() {
  std::array<float, 256> table{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    table[bits] = static_cast<float>(to_double<T>({static_cast<std::uint8_t>(bits)}));
  }
  return table;
}
inline float to_float(Float8E4M3 value) {
  static const auto table = decode_table<Float8E4M3>();
  return table[value.bits];
}
inline float to_float(Float8E5M2 value) {
  static const auto table = decode_table<Float8E5M2>();
  return table[value.bits];
}

template <class T>
T from_float(float value);
template <>
inline Half from_float<Half>(float value) {
  return {static_cast<std::uint16_t>(encode_small<10, 15, 0x7c00, 0x7c00, 0x7e00, 16>(value))};
}
template <>
inline BFloat16 from_float<BFloat16>(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40U : rounded)};
}
template <>
inline Float8E4M3 from_float<Float8E4M3>(float value) {
  return {static_cast<std::uint8_t>(encode_small<3, 7, 0x7f, 0x7f, 0x7f, 8>(value))};
}
template <>
inline Float8E5M2 from_float<Float8E5M2>(float value) {
  return {static_cast<std::uint8_t>(encode_small<2, 15, 0x7c, 0x7c, 0x7e, 8>(value))};
}

}  // namespace ccl_tests
