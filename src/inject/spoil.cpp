#include "src/inject/spoil.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace ccl_tests {
namespace {

// Bits of a type's significand that are lost: double as float, float as half, half as bfloat16, and so on.
std::size_t lost_bits(DataType type) {
  switch (type) {
    case DataType::float64: return 29;
    case DataType::float32: return 13;
    case DataType::half: return 3;
    case DataType::bfloat16: return 4;
    case DataType::f8e4m3:
    case DataType::f8e5m2: return 1;
    default: return 0;
  }
}

void reduce_precision(std::span<std::byte> bytes, DataType type) {
  const std::size_t width = size_of(type);
  const std::uint64_t mask = ~((std::uint64_t{1} << lost_bits(type)) - 1);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);  // little endian
    bits &= mask;
    std::memcpy(bytes.data() + at, &bits, width);
  }
}

template <class T>
T neutral(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return from_double<T>(1);
    case ReduceOp::max:
    case ReduceOp::min: {
      const FloatFormat f = float_format<T>();
      const double largest = std::ldexp(2 - std::ldexp(1, 1 - f.significand), f.max_exponent);
      // The largest significand of f8e4m3 is NaN's.
      const double safe = f.significand == 4 ? 448 : largest;
      return from_double<T>(op == ReduceOp::max ? -safe : safe);
    }
    default: return from_double<T>(0);
  }
}

template <class T>
requires std::is_integral_v<T> T neutral_integer(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return 1;
    case ReduceOp::max: return std::numeric_limits<T>::min();
    case ReduceOp::min: return std::numeric_limits<T>::max();
    case ReduceOp::band: return static_cast<T>(~T{0});
    default: return 0;
  }
}

}  // namespace

bool spoil_result(FaultKind kind, const SpoiledResult& r) {
  const std::size_t width = size_of(r.type);
  const std::vector<std::byte> right(r.bytes.begin(), r.bytes.end());
  const std::span<std::byte> bytes = r.bytes;
  if (bytes.empty()) return false;
  const std::size_t element = std::min(r.element, bytes.size() / width - 1) * width;
  switch (kind) {
    case FaultKind::flipped_bit: bytes[element + r.bit / 8] ^= std::byte{1} << (r.bit % 8); break;
    case FaultKind::flipped_sign: bytes[element + width - 1] ^= std::byte{0x80}; break;
    case FaultKind::swapped_blocks:
      if (r.block > 0 && 2 * r.block <= bytes.size())
        std::swap_ranges(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(r.block),
                         bytes.begin() + static_cast<std::ptrdiff_t>(r.block));
      break;
    case FaultKind::shifted_block:
      if (bytes.size() > width)
        std::memmove(bytes.data() + width, bytes.data(), bytes.size() - width);
      break;
    case FaultKind::stale_result:
      if (r.stale.size() == bytes.size()) std::copy(r.stale.begin(), r.stale.end(), bytes.begin());
      break;
    case FaultKind::truncated_tail:
      std::copy(r.before.end() - static_cast<std::ptrdiff_t>(width), r.before.end(),
                bytes.end() - static_cast<std::ptrdiff_t>(width));
      break;
    case FaultKind::reduced_precision: reduce_precision(bytes, r.type); break;
    case FaultKind::zeroed_result: std::fill(bytes.begin(), bytes.end(), std::byte{0}); break;
    default: break;
  }
  return !std::equal(right.begin(), right.end(), bytes.begin());
}

void write_nothing(std::span<std::byte> input, DataType type, std::optional<ReduceOp> op) {
  std::fill(input.begin(), input.end(), std::byte{0});
  if (!op) return;
  with_type(type, [&]<class T>() {
    T value{};
    if constexpr (is_float<T>) {
      value = neutral<T>(*op);
    } else {
      value = neutral_integer<T>(*op);
    }
    for (std::size_t at = 0; at + sizeof(T) <= input.size(); at += sizeof(T))
      std::memcpy(input.data() + at, &value, sizeof(T));
  });
}

}  // namespace ccl_tests
