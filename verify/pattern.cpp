#include "verify/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace ccl_tests::verify {
namespace {

constexpr int expected_table = -1;

// A period holds at most this many patterns' worth of memory before the cache starts anew.
constexpr std::size_t cached_patterns = 64;

}  // namespace

Pattern::Pattern(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
                 bool integers_wrap)
    : inputs_(type, op, ranks, seed, integers_wrap) {
  order_.resize(reduces() ? first_phases(inputs_) : inputs_.period());
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  std::mt19937_64 random(
      seed + 0x5eed);  // std::shuffle's result is not portable: draw the swaps ourselves
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
  expected_ = make_table(expected_table);
}

std::size_t Pattern::phase(int rank, std::size_t slot) const {
  const auto n = static_cast<std::size_t>(inputs_.ranks());
  const std::size_t turn = reduces() ? slot : slot * n + static_cast<std::size_t>(rank);
  return order_[turn % order_.size()];
}

Table Pattern::make_table(int rank_or_expected) const {
  const std::size_t period = inputs_.period();
  std::vector<std::byte> bytes(period * width());
  for (std::size_t j = 0; j < period; ++j) {
    const std::uint64_t bits = reduces() && rank_or_expected == expected_table
                                   ? inputs_.reduced(j)
                                   : inputs_.bits(std::max(0, rank_or_expected), j);
    std::memcpy(bytes.data() + j * width(), &bits, width());  // little endian
  }
  return Table(bytes, width());
}

Table Pattern::input(int rank) const { return reduces() ? make_table(rank) : expected_; }

std::shared_ptr<const Pattern> PatternCache::find(DataType type, std::optional<ReduceOp> op,
                                                  int ranks, std::uint64_t seed,
                                                  bool integers_wrap) {
  const std::lock_guard lock(mutex_);
  if (patterns_.size() >= cached_patterns) patterns_.clear();
  auto& pattern = patterns_[{type, op, ranks, seed, integers_wrap}];
  if (!pattern) pattern = std::make_shared<const Pattern>(type, op, ranks, seed, integers_wrap);
  return pattern;
}

}  // namespace ccl_tests::verify
