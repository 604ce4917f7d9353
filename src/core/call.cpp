#include "src/core/call.hpp"

#include <algorithm>
#include <array>

namespace ccl_tests {
namespace {

using enum OperationId;

constexpr std::array<std::string_view, 15> names = {
    "all_reduce",  "reduce",          "broadcast", "all_gather", "reduce_scatter",
    "all_gatherv", "reduce_scatterv", "alltoall",  "alltoallv",  "gather",
    "scatter",     "gatherv",         "scatterv",  "barrier",    "transfer"};
constexpr auto operations = all_values<OperationId, names.size()>();

// Returns the end of the last block. Blocks are adjacent if `offsets` is empty.
std::size_t end_of(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) {
  std::size_t end = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t begin = offsets.empty() ? end : offsets[r];
    if (counts[r] > 0) end = std::max(end, begin + counts[r]);
  }
  return end;
}

}  // namespace

std::span<const OperationId> all_operations() { return operations; }

std::string_view name(OperationId operation) { return names[static_cast<std::size_t>(operation)]; }

std::optional<OperationId> parse_operation(std::string_view text) {
  return value_named<OperationId>(names, text);
}

Extent extent(OperationId operation, const Call& c) {
  const std::size_t all = c.count * static_cast<std::size_t>(c.self.ranks);
  const bool is_root = c.self.rank == c.root;
  switch (operation) {
    case all_reduce:
    case reduce:  // what is left in the other ranks' buffers does not matter
    case transfer: return {c.count, c.count};
    case broadcast: return {is_root ? c.count : 0, c.count};
    case all_gather: return {c.count, all};
    case reduce_scatter: return {all, c.count};
    case alltoall: return {all, all};
    case gather: return {c.count, is_root ? all : 0};
    case scatter: return {is_root ? all : 0, c.count};
    case all_gatherv: return {c.count, end_of(c.recv_counts, c.recv_offsets)};
    case gatherv: return {c.count, is_root ? end_of(c.recv_counts, c.recv_offsets) : 0};
    case scatterv: return {is_root ? end_of(c.send_counts, c.send_offsets) : 0, c.count};
    case reduce_scatterv: return {end_of(c.send_counts, c.send_offsets), c.count};
    case alltoallv:
      return {end_of(c.send_counts, c.send_offsets), end_of(c.recv_counts, c.recv_offsets)};
    case barrier: break;
  }
  return {};
}

std::span<const std::byte> Call::send_bytes(OperationId operation) const {
  return {static_cast<const std::byte*>(send), extent(operation, *this).send * size_of(type)};
}
std::span<std::byte> Call::recv_bytes(OperationId operation) const {
  return {static_cast<std::byte*>(recv), extent(operation, *this).recv * size_of(type)};
}

}  // namespace ccl_tests
