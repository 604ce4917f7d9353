// Where a row's calls lie in the big buffers: slots that the timed calls rotate over, each with
// guard zones. Pure.
#pragma once

#include <cstddef>
#include <limits>

#include "src/core/collective.hpp"
#include "src/options/row_options.hpp"
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
  CacheUse use = CacheUse::warm;
  std::size_t cache_bytes = 0;  // of the cache that `use` is about; 0: not known
  std::size_t flush_bytes = 0;  // cold: written before each block, beside the two buffers
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  // of a buffer
};

// Returns the bytes of both buffers that a row's slots cover if the memory allows. warm: at most half of the
// cache. rotate: four times the cache. cold: twice the cache. 128 MiB if the cache is not known.
std::size_t footprint(const SlotRule& rule);

// Returns what the memory allows of it: rows that are larger have one slot.
std::size_t footprint_to_be_had(const SlotRule& rule);

// Returns the slots of a row of `bytes`, shifted by `shift` bytes (-u). A row's slots depend on that
// row alone, never on the other rows of a sweep. Rows of up to 8 MiB (warm: 64 KiB) have at least
// two slots if the memory allows, so that an earlier call's result is seen; larger warm rows have one.
// Guard zones count in the footprint of small rows: a slot costs as much to fill and to check as a call
// of some KiB. There is always one slot: whether that fits is for the caller to see.
Slots plan_slots(std::size_t bytes, std::size_t shift, const SlotRule& rule);

// Returns how many calls a block of a row may have, untimed ones included, so that no call finds its
// data in the cache: cold rows whose slots hold less data than the footprint use each slot once. 0:
// any number.
std::size_t calls_per_block(const Slots& slots, const SlotRule& rule);

// How large a row's buffers are.

// Largest buffer of any rank for one size: bytes of one message of max(send, recv), which is also
// the "size" column, and of the whole (in-place) region. Pure.
struct RowBytes {
  std::size_t size = 0;
  std::size_t region = 0;
};
RowBytes row_bytes(const Collective& collective, const Shape& shape);

}  // namespace ccl_tests
