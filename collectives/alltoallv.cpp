// alltoallv_perf: every pair of ranks exchanges a block of its own size: a generated pattern, or a
// matrix from a file.
#include <algorithm>
#include <cmath>

#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl_tests::collectives {
namespace {

// Elements that rank i sends to rank j. Generated (nccl-tests' formula, T = requested bytes, s =
// spread, d = (j - i) mod n): (1 - s) T / n + s d T / (n (n - 1) / 2), rounded down to 16 bytes.
std::size_t pair_count(const Shape& s, std::size_t from, std::size_t to) {
  const auto& matrix = s.options.alltoallv_bytes;
  const std::size_t n = ranks(s);
  if (!matrix.empty()) return matrix[from][to] / s.type_bytes;
  const double total = static_cast<double>(s.count * s.type_bytes);
  const double spread = s.options.alltoallv_spread;
  const auto distance = static_cast<double>((to + n - from) % n);
  const auto size = static_cast<double>(n);
  const double pairs = std::max(1.0, size * (size - 1) / 2);
  const double bytes = (1 - spread) * total / size + spread * distance * total / pairs;
  return static_cast<std::size_t>(bytes) / 16 * 16 / s.type_bytes;
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

// In the generated pattern all rows and columns are permutations of one another.
std::size_t largest(const Shape& s) {
  const std::size_t rows = s.options.alltoallv_bytes.empty() ? 1 : ranks(s);
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

// The largest buffer of any rank is what the time is divided into (nccl-tests).
Layout layout(const Shape& s) {
  const Counts mine = counts(s);
  return {.send = sum(mine.send_counts),
          .recv = sum(mine.recv_counts),
          .count = 0,
          .table_count = s.options.alltoallv_bytes.empty() ? block(s) : 0,
          .algbw_bytes = largest(s) * s.type_bytes,
          .in_place = std::nullopt};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::vector<std::size_t> out = counts(s).recv_offsets;
  std::vector<ExpectedBlock> segments;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    std::size_t at = 0;  // of the block for this rank in rank r's send buffer
    for (std::size_t q = 0; q < rank(s); ++q) at += pair_count(s, r, q);
    segments.push_back({.recv_offset = out[r],
                        .count = pair_count(s, r, rank(s)),
                        .source_rank = static_cast<int>(r),
                        .source_offset = at});
  }
  return segments;
}

}  // namespace

const Collective alltoallv = {
    .name = "alltoallv",
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .counts = counts,
    .largest = largest,
    .run = [](Communicator& c, const Call& call) { c.alltoallv(call); },
};

}  // namespace ccl_tests::collectives
