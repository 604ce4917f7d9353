#include "verify/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::size_t run_length = 16;      // elements that have to match
constexpr std::size_t slots_searched = 32;  // earlier calls
constexpr int ranks_searched = 512;  // for "without rank r", whose cost grows with ranks squared

// The suspicious elements and where they should come from.
struct Suspects {
  const Pattern& pattern;
  const std::byte* found;
  std::size_t count;
  std::size_t at;
  std::size_t slot;

  bool matches(const Table& table, std::size_t first) const {
    return !table.first_difference(found, count, first);
  }
  std::uint64_t element(std::size_t i) const {
    return bits_at(found + i * pattern.width(), pattern.width());
  }
};

std::string moved_data(const Suspects& run, int from) {
  const Pattern& pattern = run.pattern;
  const Table& table = pattern.expected();
  const std::size_t period = table.period();
  std::optional<std::size_t> index;  // in the table
  for (std::size_t j = 0; j < period && !index; ++j)
    if (run.matches(table, j)) index = j;
  if (!index) return {};
  const auto start_of =
      [&](int rank, std::size_t slot) {  // element at which `rank`'s data in `slot` reads like this
        return (*index + period - pattern.phase(rank, slot)) % period;
      };
  const std::size_t at = run.at % period;
  for (int rank = 0; rank < pattern.inputs().ranks(); ++rank) {
    if (start_of(rank, run.slot) == at)
      return fmt::format("rank {}'s data instead of rank {}'s", rank, from);
  }
  for (std::size_t slot = 0; slot < slots_searched; ++slot)
    if (slot != run.slot && start_of(from, slot) == at) return "the result of an earlier call";
  if (run.count < 4) return {};  // too few elements to tell a place in the period by chance
  return fmt::format("like rank {}'s data from element {} (modulo {}) on, not {}", from,
                     start_of(from, run.slot), period, at);
}

// "the reduction without rank 2"; several ranks when the values do not tell them apart (8-bit
// averages).
std::string without_ranks(const Suspects& run, std::size_t first) {
  const Inputs& inputs = run.pattern.inputs();
  const int ranks = inputs.ranks() > 1 ? std::min(inputs.ranks(), ranks_searched) : 0;
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    bool same = true;
    for (std::size_t i = 0; i < run.count && same; ++i)
      same = inputs.reduced((first + i) % inputs.period(), rank) == run.element(i);
    if (same)
      text += fmt::format("{} without rank {}", text.empty() ? "the reduction" : ", or", rank);
  }
  return text;
}

std::string reduced_data(const Suspects& run, int me) {
  const Pattern& pattern = run.pattern;
  const Inputs& inputs = pattern.inputs();
  const std::size_t period = inputs.period();
  const std::size_t first = run.at + pattern.phase(0, run.slot);
  if (run.matches(pattern.input(me), first)) return "this rank's own input, not reduced";
  for (std::size_t slot = 0; slot < slots_searched; ++slot) {
    if (slot != run.slot && run.matches(pattern.expected(), run.at + pattern.phase(0, slot)))
      return "the result of an earlier call";
  }
  if (std::string lost = without_ranks(run, first); !lost.empty()) return lost;
  for (std::size_t j = 0; j < period && run.count >= 4; ++j) {
    if (!run.matches(pattern.expected(), j)) continue;
    const std::size_t element = (j + period - pattern.phase(0, run.slot)) % period;
    return fmt::format("like the result of element {} (modulo {}), not {}", element, period,
                       run.at % period);
  }
  return {};
}

}  // namespace

std::string diagnose(const Pattern& pattern, int me, const std::byte* found, std::size_t count,
                     const ExpectedBlock& block, std::size_t at, std::size_t slot) {
  const Suspects run{pattern, found, std::min(count, run_length), at, slot};
  return pattern.reduces() ? reduced_data(run, me) : moved_data(run, block.source_rank);
}

std::string diagnose_sum(const Pattern& pattern, const std::byte* found, std::size_t count,
                         const ExpectedBlock& block, std::size_t at, std::size_t slot) {
  std::vector<std::byte> sum(std::min(count, run_length) * pattern.width());
  const auto is_sum_of = [&](const ExpectedBlock& other, std::size_t its_slot) {
    pattern.sum(other, at, its_slot, sum);
    return std::equal(sum.begin(), sum.end(), found);
  };
  constexpr int largest_weight = 3;
  for (std::size_t k = 0; k < block.terms.size(); ++k) {
    const ExpectedBlock::Term& term = block.terms[k];
    ExpectedBlock other = block;
    std::erase_if(other.terms, [&](const ExpectedBlock::Term& t) { return t.rank == term.rank; });
    if (is_sum_of(other, slot)) return fmt::format("the sum without rank {}'s part", term.rank);
    other = block;
    other.terms.erase(other.terms.begin() + static_cast<std::ptrdiff_t>(k));
    if (is_sum_of(other, slot))
      return fmt::format("the sum without term {}, of rank {}", k, term.rank);
    for (int weight = 0; weight <= largest_weight; ++weight) {
      other = block;
      other.terms[k].weight = weight;
      if (weight != term.weight && is_sum_of(other, slot))
        return fmt::format("the sum with weight {} instead of {} of term {}, of rank {}", weight,
                           term.weight, k, term.rank);
    }
  }
  for (std::size_t other = 0; other < slots_searched; ++other)
    if (other != slot && is_sum_of(block, other)) return "the result of an earlier call";
  return {};
}

}  // namespace ccl_tests::verify
