// Where a row's calls lie in the big buffers: slots that the timed calls rotate over, each with
// guard zones. The memory that a sweep may take for them, has, and took (-M).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/job/rank.hpp"
#include "src/options/options.hpp"
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

// The rule for the number of slots of rows.
struct SlotRule {
  std::size_t wanted = 1;  // the most that are of use: calls of a row
  CacheUse use = CacheUse::warm;
  std::size_t cache_bytes = 0;  // of the cache that `use` is about; 0: not known
  std::size_t flush_bytes = 0;  // cold: written before each block, beside the two buffers
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  // of a buffer
};

// Returns the bytes of both buffers that a row's slots cover if the memory allows. warm: half of
// the cache at most. rotate: four times, cold: twice the cache. 128 MiB if the cache is not known.
std::size_t footprint(const SlotRule& rule);

// Returns what the memory allows of it: rows that are larger have one slot.
std::size_t footprint_to_be_had(const SlotRule& rule);

// Returns the slots of a row of `bytes`, shifted by `shift` bytes (-u). A row's slots depend on
// that row alone, never on the other rows of a sweep. Rows of up to 8 MiB (warm: 64 KiB) have at
// least two slots if the memory allows, so that an earlier call's result is seen; larger warm rows
// have one. Guard zones count in the footprint of small rows: a slot costs as much to fill and to
// check as a call of some KiB. There is always one slot, whether it fits or not.
Slots plan_slots(std::size_t bytes, std::size_t shift, const SlotRule& rule);

// Returns how many calls a block of a row may have, untimed ones included, so that no call finds
// its data in the cache: cold rows with less data than the footprint use each slot once. 0: any.
std::size_t calls_per_block(const Slots& slots, const SlotRule& rule);

// Largest buffer of any rank for one size: bytes of one message of max(send, recv), which is also
// the "size" column, and of the whole (in-place) region. Pure.
struct RowBytes {
  std::size_t size = 0;
  std::size_t region = 0;
};
RowBytes row_bytes(const Collective& collective, const Shape& shape);

struct SizePlan {
  std::vector<std::size_t> sizes;
  std::optional<std::size_t> reduced_max;  // when sizes had to be left out
  SlotRule slots;                          // of their rows
};

// Returns the bytes that one of a rank's two buffers may have on a machine with `available` bytes
// and `ranks` ranks, where the library takes up to `scratch` buffers' worth per rank, and
// `taken_later` bytes. A tenth of the memory, at most 2 GiB, stays free; or what is taken later, at
// most a third.
std::size_t buffer_limit(std::size_t available, std::size_t ranks, double scratch,
                         std::size_t taken_later = 0);

// Returns the slots of a row of this shape: so many, but at least one, that the row's buffers and
// what the collective allocates beside them stay within rule.most_bytes per buffer.
Slots row_slots(const Collective& collective, const Shape& shape, std::size_t unalign,
                const SlotRule& rule);

// Returns the sweep's sizes of which one slot stays within rule.most_bytes for a group of `ranks`
// ranks. Throws Unsupported if none does.
SizePlan limit_sizes(const Collective& collective, const Options& options, int ranks,
                     const SlotRule& rule);

// Returns what fits on every machine, for groups of every size. library: under test.
SizePlan plan_sizes(const Collective& collective, const Options& options, const RankTable& table,
                    const RankGroups& groups, Memory buffers, const BackendInfo& library);

// Returns how many slots the rows of these options have in such memory, whatever its size: the same
// on every rank, for the largest caches of any.
SlotRule slot_rule_of(const Options& options, const RankTable& table, Memory buffers);

// Returns the job's table, in which `memory` of ranks whose buffers lie on GPUs is what is free
// there now, after the library under test has taken its own. Collective over all ranks.
RankTable table_with_free_memory(Rank& rank);

// Free bytes of a rank's device (-M): before the library connected, after it, and with the buffers.
struct MemoryUse {
  std::size_t before = 0, connected = 0, allocated = 0;
};

// Returns nccl-tests' line, of the rank that uses most. at_end: free after the last row.
// Collective.
std::string memory_line(ControlChannel& channel, const MemoryUse& use, std::size_t at_end,
                        double limit_s);

}  // namespace ccl_tests
