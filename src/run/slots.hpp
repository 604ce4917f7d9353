// Where a row's calls lie in the big buffers: slots that the timed calls rotate over, each with
// guard zones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "verify/verifier.hpp"

namespace ccl_tests {

// Slot s holds `bytes` of data at offset(s), with verify::guard_bytes free before and behind it.
struct Slots {
  std::size_t bytes = 0, stride = 0, shift = 0;
  std::size_t count = 1;
  std::size_t offset(std::size_t slot) const { return verify::guard_bytes + shift + slot * stride; }
  // Bytes of a buffer that holds all slots.
  std::size_t end() const { return offset(0) + count * stride; }
};

// How many slots rows have.
struct SlotRule {
  std::size_t wanted = 1;  // the most that are of use: calls of a row
  // The slots of both buffers stay within such a cache, as the buffers of a training step would. 0:
  // they rotate over 64 MiB, so that no cache holds them (GPUs).
  std::size_t cache_bytes = 0;
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  // of a buffer
};

// Returns the slots of a row of `bytes`, shifted by `shift` bytes (-u). A row's slots depend on that
// row alone, never on the other rows of a sweep. Rows of up to 8 MiB have at least two slots if the
// memory allows, so that a call that does nothing is seen. Filling and checking a slot costs about as
// much as a call. There is always one slot: whether that fits is for the caller to see.
inline Slots plan_slots(std::size_t bytes, std::size_t shift, const SlotRule& rule) {
  constexpr std::size_t line = 64;
  constexpr std::size_t rotated_bytes = 64 << 20;
  constexpr std::size_t most_with_two = 8 << 20;
  constexpr std::size_t most_in_cache = 1 << 20;  // guard zones, which calls do not touch, counted
  const std::size_t data = std::max(line, (bytes + line - 1) / line * line);
  Slots slots{.bytes = bytes, .stride = data + verify::guard_bytes, .shift = shift};
  const std::size_t room = rule.cache_bytes > 0
                               ? std::min(rule.cache_bytes / 2 / data, most_in_cache / slots.stride)
                               : rotated_bytes / slots.stride;
  const std::size_t least = bytes <= most_with_two ? 2 : 1;
  const std::size_t free = rule.most_bytes - std::min(rule.most_bytes, slots.offset(0));
  slots.count =
      std::max<std::size_t>(1, std::min({rule.wanted, std::max(least, room), free / slots.stride}));
  return slots;
}

}  // namespace ccl_tests
