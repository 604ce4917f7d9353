// alltoallv_perf: every pair of ranks exchanges a block of its own size: a generated pattern, or a
// matrix from a file.
#include <algorithm>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"
#include "src/core/whole_bytes.hpp"

namespace ccl_tests::collectives {
namespace {

// Returns the elements that a rank sends to the rank `distance` behind it in the generated pattern:
// nccl-tests' formula (1 - s) T / n + s d T / (n (n - 1) / 2), rounded down to 16 bytes.
// T: requested bytes, s: spread, d: distance.
std::size_t generated_count(const Shape& s, std::size_t distance) {
  const double total = static_cast<double>(s.count * s.type_bytes);
  const double spread = s.options.alltoallv_spread;
  const auto size = static_cast<double>(ranks(s));
  const double pairs = std::max(1.0, size * (size - 1) / 2);
  const double bytes =
      (1 - spread) * total / size + spread * static_cast<double>(distance) * total / pairs;
  return whole_bytes(bytes) / 16 * 16 / s.type_bytes;
}

bool has_matrix(const Shape& s) { return !s.options.alltoallv_bytes.empty(); }

// Returns the elements that one rank sends to another.
std::size_t pair_count(const Shape& s, std::size_t from, std::size_t to) {
  if (has_matrix(s)) return s.options.alltoallv_bytes[from][to] / s.type_bytes;
  return generated_count(s, (to + ranks(s) - from) % ranks(s));
}

// Returns where the block for this rank begins in each rank's send buffer.
std::vector<std::size_t> source_offsets(const Shape& s) {
  const std::size_t n = ranks(s);
  std::vector<std::size_t> result(n);
  if (has_matrix(s)) {
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t q = 0; q < rank(s); ++q) result[r] += pair_count(s, r, q);
    return result;
  }
  // Rank r sends the same blocks as any other rank, beginning with the one for distance n - r.
  std::vector<std::size_t> nearer(n + 1);  // elements for all ranks at less than a distance
  for (std::size_t d = 0; d < n; ++d) nearer[d + 1] = nearer[d] + generated_count(s, d);
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t first = (n - r) % n;
    const std::size_t end = first + rank(s);
    result[r] =
        end <= n ? nearer[end] - nearer[first] : nearer[n] - nearer[first] + nearer[end - n];
  }
  return result;
}

Counts counts(const Shape& s) {
  Counts c;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    c.send_counts.push_back(pair_count(s, rank(s), r));
    c.recv_counts.push_back(pair_count(s, r, rank(s)));
  }
  c.send_offsets = offsets(c.send_counts);
  c.recv_offsets = offsets(c.recv_counts);
  return c;
}

// In the generated pattern, rank 0 sends and receives as much as any other rank.
std::size_t largest(const Shape& s) {
  const std::size_t rows = has_matrix(s) ? ranks(s) : 1;
  std::size_t result = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t out = 0;
    std::size_t in = 0;
    for (std::size_t q = 0; q < ranks(s); ++q) {
      out += pair_count(s, r, q);
      in += pair_count(s, q, r);
    }
    result = std::max({result, out, in});
  }
  return result;
}

// algbw is of the largest buffer of any rank, as in nccl-tests.
Layout layout(const Shape& s) {
  Counts mine = counts(s);
  return {.send = sum(mine.send_counts),
          .recv = sum(mine.recv_counts),
          .count = 0,
          .table_count = has_matrix(s) ? 0 : block(s),
          .algbw_bytes = largest(s) * s.type_bytes,
          .counts = std::move(mine)};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::vector<std::size_t> sources = source_offsets(s);
  std::vector<ExpectedBlock> blocks;
  std::size_t offset = 0;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    const std::size_t count = pair_count(s, r, rank(s));
    blocks.push_back({.recv_offset = offset,
                      .count = count,
                      .source_rank = static_cast<int>(r),
                      .source_offset = sources[r]});
    offset += count;
  }
  return blocks;
}

}  // namespace

const Collective alltoallv = {
    .name = "alltoallv",
    .about = "every pair exchanges blocks of its own size",
    .flags = {.block_matrix = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .largest = largest,
    .make = calls<&Communicator::alltoallv>,
};

}  // namespace ccl_tests::collectives
