// The memory that a sweep may take, has, and took (-M).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/job/rank.hpp"
#include "src/options/options.hpp"
#include "src/run/slots.hpp"

namespace ccl_tests {

struct SizePlan {
  std::vector<std::size_t> sizes;
  std::optional<std::size_t> reduced_max;  // when sizes had to be left out
  SlotRule slots;                          // of their rows
};

// Returns the bytes that one of a rank's two buffers may have on a machine with `available` bytes and `ranks`
// ranks, where the library takes up to `scratch` buffers' worth per rank, and `taken_later` bytes. A
// tenth of the memory, but at most 2 GiB, stays free; or what is taken later, but at most a third.
std::size_t buffer_limit(std::size_t available, std::size_t ranks, double scratch,
                         std::size_t taken_later = 0);

// Returns the slots of a row of this shape. With fewer of them, never with fewer than one, the row's
// buffers and what the collective allocates beside them stay within rule.most_bytes per buffer.
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

// Returns the job's table, in which `memory` of ranks whose buffers lie on GPUs is what is free there now,
// after the library under test has taken its own.
// Collective over all ranks.
RankTable table_with_free_memory(Rank& rank);

// Free bytes of a rank's device (-M): before the library connected, after it, and with the buffers.
struct MemoryUse {
  std::size_t before = 0, connected = 0, allocated = 0;
};

// Returns nccl-tests' line, of the rank that uses most. at_end: free bytes after the last row. Collective.
std::string memory_line(ControlChannel& channel, const MemoryUse& use, std::size_t at_end,
                        double limit_s);

}  // namespace ccl_tests
