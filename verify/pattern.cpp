#include "verify/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "verify/arithmetic.hpp"

namespace ccl_tests::verify {
namespace {

constexpr int expected_table = -1;

// The cache starts anew when it holds so much.
constexpr std::size_t cached_patterns = 64;
constexpr std::size_t cached_bytes = std::size_t{64} << 20;

}  // namespace

Pattern::Pattern(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
                 bool integers_wrap, std::uint64_t largest, DataChoice data)
    : inputs_(type, op, ranks, seed, integers_wrap, largest, data) {
  order_.resize(reduces() ? first_phases(inputs_) : inputs_.period());
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  std::mt19937_64 random(
      seed + 0x5eed);  // std::shuffle's result is not portable: draw the swaps ourselves
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
  expected_ = make_table(expected_table);
  if (largest == 0) return;
  for (std::size_t j = 0; j < inputs_.period(); ++j)
    values_.push_back(with_type(type, [&]<class T>() {
      T value;
      std::memcpy(&value, expected_.at(j), sizeof value);
      if constexpr (is_float<T>)
        return to_double(value);
      else
        return static_cast<double>(value);
    }));
}

void Pattern::sum(const ExpectedBlock& block, std::size_t first, std::size_t slot,
                  std::span<std::byte> out) const {
  const std::size_t count = out.size() / width();
  std::vector<double> sums(count);
  for (const ExpectedBlock::Term& term : block.terms) {
    std::size_t at = (term.offset + first + phase(term.rank, slot)) % values_.size();
    for (double& sum : sums) {
      sum += term.weight * values_[at];
      if (++at == values_.size()) at = 0;
    }
  }
  with_type(inputs_.type(), [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      if constexpr (is_float<T>)
        value = from_double<T>(sums[i]);
      else
        value = static_cast<T>(sums[i]);
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  });
}

std::size_t Pattern::phase(int rank, std::size_t slot) const {
  const auto n = static_cast<std::size_t>(inputs_.ranks());
  const std::size_t turn = reduces() ? slot : slot * n + static_cast<std::size_t>(rank);
  return order_[turn % order_.size()];
}

Table Pattern::make_table(int rank_or_expected) const {
  const StandardArithmetic standard;
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
                                                  int ranks, std::uint64_t seed, bool integers_wrap,
                                                  std::uint64_t largest, DataChoice data) {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [key, pattern] : patterns_) bytes += pattern->expected().bytes();
  if (patterns_.size() >= cached_patterns || bytes > cached_bytes) patterns_.clear();
  auto& pattern = patterns_[{type, op, ranks, seed, integers_wrap, largest, data.kind, data.bytes}];
  if (!pattern)
    pattern = std::make_shared<const Pattern>(type, op, ranks, seed, integers_wrap, largest, data);
  return pattern;
}

}  // namespace ccl_tests::verify
