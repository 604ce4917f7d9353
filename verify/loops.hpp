// The verifier's work on memory, where that memory lies: fill, compare, and copies to and from
// the host. One implementation for each kind of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "verify/table.hpp"

namespace ccl_tests::verify {

// Elements that differ: how many, and the first and last of them, counted from the run's first.
struct Difference {
  std::uint64_t wrong = 0;
  std::uint64_t first = 0, last = 0;
};

// A table in the memory of the loops that placed it.
class PlacedTable {
 public:
  virtual ~PlacedTable() = default;
};

// Element b * stride + i of `data` should be table[(first + b * table_stride + i) mod period], for
// b < blocks and i < count. Strides are in elements; count <= stride where blocks > 1.
struct StridedRange {
  const std::byte* data = nullptr;
  const PlacedTable* table = nullptr;
  std::size_t first = 0, count = 0;
  std::size_t blocks = 1, stride = 0, table_stride = 0;
};

// Every function is complete when it returns, and throws Error where the memory's library fails.
// Used by one thread. Data are aligned to their element.
class Loops {
 public:
  virtual ~Loops() = default;

  virtual std::unique_ptr<PlacedTable> place(const Table& table) = 0;

  // out[i] = table[(first + i) mod period] for i < count.
  virtual void fill(std::byte* out, std::size_t count, const PlacedTable& table,
                    std::size_t first) = 0;

  // One difference for each run. tolerance: units in the last place, where the elements are
  // floating point; 0: bit for bit.
  virtual std::vector<Difference> compare(std::span<const StridedRange> runs,
                                          std::uint64_t tolerance) = 0;

  virtual void set(std::byte* out, std::byte value, std::size_t bytes) = 0;
  // As set, by the loop that does least: the speed that fill can reach. `out` and `bytes` are
  // multiples of 16.
  virtual void fill_constant(std::byte* out, std::byte value, std::size_t bytes) = 0;
  virtual void fetch(std::byte* host, const std::byte* data, std::size_t bytes) = 0;
  virtual void store(std::byte* out, const std::byte* host, std::size_t bytes) = 0;
};

// Those of host memory, which have no state: one for all, or one's own.
Loops& host_loops();
std::unique_ptr<Loops> make_host_loops();

// Returns the loops of the calling thread's CUDA device, on a stream of their own. Throws Error.
// Part of the module of CUDA devices.
std::unique_ptr<Loops> make_cuda_loops();

}  // namespace ccl_tests::verify
