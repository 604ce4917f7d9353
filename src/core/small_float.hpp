// half, bfloat16 and 8-bit floats to and from float, fast enough for a reduction's inner loop.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "src/core/types.hpp"

namespace ccl_tests {

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
requires(sizeof(T) == 1) float to_float(T value) {
  static const auto table = [] {
    std::array<float, 256> values{};
    for (unsigned bits = 0; bits < values.size(); ++bits)
      values[bits] = static_cast<float>(to_double<T>({static_cast<std::uint8_t>(bits)}));
    return values;
  }();
  return table[value.bits];
}

// Returns the nearest value of T, ties to even.
template <class T>
T from_float(float value) {
  constexpr FloatFormat format = float_format<T>();
  constexpr int fraction = format.significand - 1, bias = 1 - format.min_exponent;
  constexpr int shift = 23 - fraction;
  constexpr int width = 8 * sizeof(T);
  constexpr std::uint32_t top = (2U * bias + 1) << fraction;  // the all-ones exponent
  constexpr bool finite_top = format.max_exponent > bias;
  constexpr std::uint32_t overflow = finite_top ? (1U << (width - 1)) - 1 : top;
  constexpr std::uint32_t nan = finite_top ? overflow : top | 1U << (fraction - 1);
  constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(128 - bias) << 23;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 << (width - 1);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
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
    if (small >= overflow) small = overflow;
  }
  return {static_cast<decltype(T::bits)>(sign | (magnitude > 0x7f800000U ? nan : small))};
}
template <>
inline BFloat16 from_float<BFloat16>(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40U : rounded)};
}

}  // namespace ccl_tests
