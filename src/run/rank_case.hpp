// What the parts of RankRun share: one case and where its data lie. Included by its
// .cpp files only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "src/core/error.hpp"
#include "src/run/rank_run.hpp"

namespace ccl_tests {

// Limit of the harness's own exchanges; ranks meet there after calls whose length nobody knows. 0
// (-T 0): practically none.
inline double exchange_limit(const Options& o, std::size_t bytes) {
  if (o.job.timeout_s <= 0) return 1e6;
  const double calls =
      std::max(2.0, static_cast<double>(o.measure.iterations) * o.measure.aggregate);
  return calls * (o.job.timeout_s + static_cast<double>(bytes) / 1e6) + o.measure.row_time_s;
}

template <class T>
std::string pack(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
T unpack(const std::string& bytes) {
  if (bytes.size() < sizeof(T)) throw Error("a rank sent a malformed report");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

using Reports = std::vector<std::string>;  // of the ranks

struct RankRun::Case {
  const RankGroups& groups;  // that run at once, a row for each: process groups, or pairs
  DataType type;
  std::optional<ReduceOp> op;
  Shape shape;
  std::size_t requested;
  Layout layout;
  std::vector<ExpectedBlock> segments;
  Counts counts;
  RowBytes bytes;
  Slots slots;
  bool verifiable;
  int peer = -1;  // the other rank of this one's pair

  std::size_t operations(int iterations, int aggregate) const {
    return static_cast<std::size_t>(iterations) * static_cast<std::size_t>(aggregate);
  }
};

// phase: which of the pattern's slots the data are in (Pattern::phase's `slot`).
struct RankRun::Buffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::byte* region = nullptr;  // in place: the one buffer that holds both; otherwise null
  std::size_t region_bytes = 0;
  std::size_t phase = 0;
};

struct RankRun::Checked {
  verify::Mismatch found;
  std::uint64_t calls = 0, verified = 0;
  std::size_t next_phase = 0;
  StepTimes steps;                // of a composite, seconds per timed operation
  std::vector<double> intervals;  // seconds of each timed iteration (-I)
};

// Timed calls rotate over the slots. In place, a reduction changes its own input, so a slot that is
// used twice holds nothing predictable: there the last call runs in the otherwise idle send buffer,
// filled before the clock starts.
struct RankRun::Batch {
  std::size_t operations = 0;
  std::vector<Buffers> slots;
  std::optional<Buffers> fresh;
  std::vector<Call> calls;  // one for each slot, then that of `fresh`
  bool changes_input = false;
  std::size_t aggregate = 1;  // operations of an iteration
  bool together = false;      // which the library may issue as one

  const Call& call(std::size_t operation) const {
    return fresh && operation + 1 == operations ? calls.back() : calls[operation % slots.size()];
  }
};

}  // namespace ccl_tests
