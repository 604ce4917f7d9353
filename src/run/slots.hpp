// Where a row's calls lie in the big buffers: slots that the timed calls rotate over, each with
// guard zones.
#pragma once

#include <algorithm>
#include <cstddef>

#include "verify/verifier.hpp"

namespace ccl_tests {

// Slot s holds `bytes` of data at offset(s), with verify::guard_bytes free before and behind it.
struct Slots {
  std::size_t bytes = 0, stride = 0, shift = 0;
  std::size_t count = 1;
  std::size_t offset(std::size_t slot) const { return verify::guard_bytes + shift + slot * stride; }
};

// The buffer that one slot of `bytes`, shifted by `shift` bytes (-u), needs; small buffers are
// rounded up so that short messages rotate too.
inline std::size_t buffer_bytes(std::size_t bytes, std::size_t shift) {
  return std::max<std::size_t>(bytes + shift + 2 * verify::guard_bytes + 64, 1 << 18);
}

// As many slots as fit into a buffer of `buffer` bytes, but not more than `wanted`. Long messages
// rotate over few slots: filling and checking each costs about as much as moving it, and rotation
// only has to defeat the caches.
inline Slots plan_slots(std::size_t bytes, std::size_t shift, std::size_t buffer,
                        std::size_t wanted) {
  constexpr std::size_t line = 64;
  constexpr std::size_t rotated_bytes = 64 << 20;
  Slots slots{.bytes = bytes,
              .stride = (bytes + line - 1) / line * line + verify::guard_bytes,
              .shift = shift};
  const std::size_t room = buffer - verify::guard_bytes - shift;
  const std::size_t useful = std::max<std::size_t>(2, rotated_bytes / slots.stride);
  slots.count = std::max<std::size_t>(1, std::min({wanted, room / slots.stride, useful}));
  return slots;
}

}  // namespace ccl_tests
