#include "tools/verifier_check.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include "tools/mirrored_row.hpp"
#include "tools/pattern_check.hpp"

namespace ccl_tests::tools {
namespace {

constexpr int many_ranks = 3000;                      // a longer period
constexpr std::size_t first_with_vectors = 64 << 10;  // bytes, of a GPU's loops
constexpr std::size_t shifts[] = {0, 1, 3};           // elements
constexpr std::size_t most_shift = 3 * sizeof(double);

void all_segments(PatternCheck& check, bool reduces) {
  const auto from = [&](int rank) { return reduces ? ExpectedBlock::all_ranks : rank; };
  check.segments({{.recv_offset = 0, .count = 100, .source_rank = from(1)},
                  {.recv_offset = 100, .count = 0, .source_rank = from(0)},
                  {.recv_offset = 100, .count = 100, .source_rank = from(2), .source_offset = 50}},
                 {}, 0);
  const ExpectedBlock thin = {.recv_offset = 5,
                              .count = 3,
                              .source_rank = from(1),
                              .source_offset = 2,
                              .repeat = 1000,
                              .recv_stride = 7,
                              .source_stride = 4};
  check.segments({thin}, 8, 1);
  const ExpectedBlock wide = {.recv_offset = 1,
                              .count = 5000,
                              .source_rank = from(2),
                              .source_offset = 9,
                              .repeat = 30,
                              .recv_stride = 5001,
                              .source_stride = 5003};
  check.segments({wide}, 0, 2);
  // Two interleaved: the blocks of one lie in the gaps of the other.
  ExpectedBlock other = thin;
  other.recv_offset = 8;
  other.source_rank = from(2);
  check.segments({thin, other}, 4, 3);
  std::vector<ExpectedBlock> many;
  for (std::size_t k = 0; k < 64; ++k)
    many.push_back({.recv_offset = 300 * k,
                    .count = 300,
                    .source_rank = from(static_cast<int>(k % checked_ranks)),
                    .source_offset = 7 * k});
  check.segments(many, {}, 4);
}

std::vector<std::size_t> counts(std::size_t width, const CheckOptions& options) {
  const std::size_t vectors_from = first_with_vectors / width;
  if (options.quick) return {0, 37, 4096, vectors_from - 1, vectors_from + 1, vectors_from + 4093};
  constexpr std::size_t some = 3 << 20;
  return {0,
          1,
          2,
          3,
          37,
          4096,
          4097,
          vectors_from - 1,
          vectors_from,
          vectors_from + 1,
          vectors_from + 4093,
          std::min(some, options.max_bytes) / width + 5};
}

std::vector<std::optional<ReduceOp>> kinds(DataType type, bool quick) {
  if (quick) return {std::nullopt, ReduceOp::sum, ReduceOp::avg};
  std::vector<std::optional<ReduceOp>> all = {std::nullopt};
  for (const ReduceOp op : ops_of(type)) all.emplace_back(op);
  return all;
}

}  // namespace

CheckReport check_type(DataType type, Device& device, verify::Loops& loops,
                       const CheckOptions& options) {
  CheckReport report;
  std::mt19937_64 random(options.seed);
  const std::size_t width = size_of(type);
  constexpr std::size_t least = 2 << 20;  // what the segments take
  MirroredRow row(device, std::max(options.max_bytes, least) + 64 * width, most_shift);
  const auto pattern = [&](std::optional<ReduceOp> op, int of) {
    return std::make_shared<const verify::Pattern>(type, op, of, options.seed);
  };
  const std::size_t every = options.quick ? 5 : 1;
  for (const auto& op : kinds(type, options.quick)) {
    PatternCheck check(pattern(op, checked_ranks), loops, row, random, report);
    std::size_t slot = 0;
    for (const std::size_t count : counts(width, options)) {
      for (const std::size_t shift : shifts) {
        ++slot;
        if (options.quick && slot % 2 == 0) continue;
        check.contiguous(count, shift, slot % 5, every);
      }
    }
    all_segments(check, op.has_value());
    const bool long_too = !op || *op == ReduceOp::sum || *op == ReduceOp::avg;
    if (long_too) check.contiguous(options.max_bytes / width + 3, 1, 6, 6 * every);
  }
  PatternCheck(pattern(std::nullopt, many_ranks), loops, row, random, report)
      .contiguous(first_with_vectors / width + 20'011, 1, 3, every);
  return report;
}

}  // namespace ccl_tests::tools
