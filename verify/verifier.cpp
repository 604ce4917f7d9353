#include "verify/verifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "src/core/mix.hpp"
#include "verify/diagnosis.hpp"
#include "verify/order_sensitive.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::byte poison_byte{0xa5};
constexpr std::byte guard_byte{0x5a};
// Up to this many elements, poison is made different from what is expected element by element; in
// longer rows some elements may equal it by chance, but never a whole row.
constexpr std::size_t exact_poison = 4096;
// Elements from the first wrong one on that are looked at to say what they are.
constexpr std::size_t explained_elements = 16;

// Of a floating-point type.
double value_at(DataType type, const std::byte* bytes) {
  return with_type(type, [&]<class T>() {
    if constexpr (is_float<T>) return to_double(load<T>(bytes));
    return 0.0;
  });
}

// The values of a floating-point type in their order, as whole numbers.
std::int64_t place(std::uint64_t bits, std::size_t width) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

bool is_right(std::uint64_t found, std::uint64_t expected, std::size_t width,
              std::uint64_t tolerance) {
  if (found == expected || tolerance == 0) return found == expected;
  const std::int64_t a = place(found, width);
  const std::int64_t b = place(expected, width);
  const auto apart =
      static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b));
  return apart <= tolerance;
}

// Calls visit(at, index, bytes) for elements [begin, end) of the run, copied to the host: their
// places in the run and in the table.
template <class Visit>
void for_each_element(Loops& loops, const StridedRange& run, std::size_t width, std::size_t begin,
                      std::size_t end, Visit&& visit) {
  const std::size_t stride = run.blocks > 1 ? run.stride : run.count;
  const std::size_t piece = (std::size_t{1} << 20) / width;
  std::vector<std::byte> copy(std::min(end - begin, piece) * width);
  for (std::size_t at = begin; at < end; ++at) {
    const std::size_t in_piece = (at - begin) % piece;
    if (in_piece == 0)
      loops.fetch(copy.data(), run.data + at * width, std::min(end - at, piece) * width);
    const std::size_t block = at / stride;
    const std::size_t i = at % stride;
    if (i >= run.count) continue;  // between two blocks
    visit(at, run.first + block * run.table_stride + i, copy.data() + in_piece * width);
  }
}

Difference look_again(Loops& loops, const StridedRange& run, const Table& table,
                      std::uint64_t tolerance, std::size_t begin, std::size_t end) {
  const std::size_t width = table.width();
  Difference result;
  for_each_element(
      loops, run, width, begin, end,
      [&](std::size_t at, std::size_t index, const std::byte* found) {
        if (is_right(bits_at(found, width), bits_at(table.at(index), width), width, tolerance))
          return;
        if (result.wrong++ == 0) result.first = at;
        result.last = at;
      });
  return result;
}

// Returns in words whether elements found.first to found.last of the run are wrong: copied to the
// host and compared one by one, with neither the loops' table nor their code. table: what run.table
// was placed from. tolerance: as for Loops::compare.
std::string second_look(Loops& loops, const StridedRange& run, const Table& table,
                        std::uint64_t tolerance, const Difference& found) {
  const Difference again = look_again(loops, run, table, tolerance, found.first, found.last + 1);
  if (again.wrong == found.wrong && again.first == found.first && again.last == found.last)
    return "confirmed on the host";
  const std::string there = again.wrong == 0 ? "all is right"
                                             : fmt::format("{} are wrong, {} to {}", again.wrong,
                                                           again.first, again.last);
  return fmt::format(
      "not confirmed on the host, where {}: the verifier is at fault, or data came late", there);
}

// "all 31 wrong elements of the call are rounded toward zero". common: the kinds that all of them have.
std::string kinds_text(unsigned common, const std::array<std::uint64_t, wrong_kinds>& counts,
                       std::uint64_t looked_at, std::uint64_t wrong) {
  const auto words_of = [](std::size_t kind) { return words(static_cast<WrongKind>(kind)); };
  if (common != 0) {
    std::string kind = words_of(static_cast<std::size_t>(std::countr_zero(common)));
    if (wrong == 1) return kind;
    return looked_at == wrong
               ? fmt::format("all {} wrong elements of the call are {}", wrong, kind)
               : fmt::format("the first {} wrong elements of the call are all {}", looked_at, kind);
  }
  std::vector<std::string> all;
  for (std::size_t kind = 0; kind < counts.size(); ++kind)
    if (counts[kind] > 0) all.push_back(fmt::format("{} {}", counts[kind], words_of(kind)));
  return fmt::format("of {} wrong elements {}", looked_at, fmt::join(all, "; "));
}

}  // namespace

void Mismatch::add(const Mismatch& other) {
  seen.add(other.seen);
  if (other.digest != 0) {
    digest = mix(digest + other.digest);
    received = other.received;
  }
  if (other.wrong == 0) return;
  if (wrong == 0) {
    wrong = other.wrong;
    first = other.first;
    last = other.last;
    explanation = other.explanation;
    return;
  }
  wrong += other.wrong;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

Verifier::Verifier(std::shared_ptr<const Pattern> pattern, int rank, Loops& loops)
    : pattern_(std::move(pattern)), rank_(rank), loops_(&loops) {
  for (const auto& [source, table] :
       {std::pair{&input_, pattern_->input(rank)}, std::pair{&expected_, pattern_->expected()}})
    *source = {table, loops.place(table)};
}

void Verifier::fill_input(void* out, std::size_t count, std::size_t slot) const {
  loops_->fill(static_cast<std::byte*>(out), count, *input_.placed, pattern_->phase(rank_, slot));
}

// Data movement: the sender's phase. Reduction: phases do not depend on the rank.
std::size_t Verifier::phase_of(const ExpectedBlock& block, std::size_t slot) const {
  return pattern_->phase(block.source_rank == ExpectedBlock::all_ranks ? rank_ : block.source_rank,
                         slot);
}

const Verifier::Source& Verifier::source_of(const ExpectedBlock& block) const {
  return block.source_rank == ExpectedBlock::all_ranks || !pattern_->reduces() ? expected_ : input_;
}

void Verifier::poison(void* out, std::size_t count, std::span<const ExpectedBlock> blocks,
                      std::size_t slot) const {
  if (count == 0) return;
  const std::size_t width = pattern_->width();
  if (count > exact_poison) {
    loops_->set(static_cast<std::byte*>(out), poison_byte, count * width);
    return;
  }
  std::vector<std::byte> data(count * width, poison_byte);
  for (const ExpectedBlock& s : blocks) {
    if (!s.terms.empty()) {
      const std::span<std::byte> sum(data.data() + s.recv_offset * width, s.count * width);
      pattern_->sum(s, 0, slot, sum);
      for (std::byte& b : sum) b = ~b;
      continue;
    }
    for (std::size_t occurrence = 0; occurrence < s.repeat; ++occurrence) {
      const std::size_t start = s.recv_offset + occurrence * s.recv_stride;
      const std::size_t first = s.source_offset + occurrence * s.source_stride + phase_of(s, slot);
      for (std::size_t i = 0; i < s.count; ++i) {
        std::byte* const element = data.data() + (start + i) * width;
        if (std::memcmp(element, source_of(s).table.at(first + i), width) != 0) continue;
        for (std::size_t b = 0; b < width; ++b) element[b] = ~poison_byte;
      }
    }
  }
  loops_->store(static_cast<std::byte*>(out), data.data(), data.size());
}

Mismatch Verifier::compare(const void* recv, std::span<const ExpectedBlock> blocks,
                           std::size_t slot) const {
  const auto* const data = static_cast<const std::byte*>(recv);
  const std::size_t width = pattern_->width();
  const auto tolerance =
      pattern_->reduces() ? static_cast<std::uint64_t>(pattern_->inputs().tolerance()) : 0;
  std::vector<StridedRange> runs;
  Mismatch result;
  for (const ExpectedBlock& s : blocks) {
    if (!s.terms.empty()) result.add(compare_sum(data, s, slot));
    runs.push_back({.data = data + s.recv_offset * width,
                    .table = source_of(s).placed.get(),
                    .first = s.source_offset + phase_of(s, slot),
                    .count = s.terms.empty() ? s.count : 0,
                    .blocks = s.repeat,
                    .stride = s.recv_stride,
                    .table_stride = s.source_stride});
  }
  const std::vector<Difference> differences = loops_->compare(runs, tolerance);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const ExpectedBlock& s = blocks[k];
    const auto [wrong, first, last] = differences[k];
    const bool reduced = s.source_rank == ExpectedBlock::all_ranks;  // else a copy: bit for bit
    if (reduced && pattern_->inputs().kind() != DataKind::exact) {
      result.add(judge(runs[k], source_of(s).table, differences[k], s, slot));
      continue;
    }
    if (wrong == 0) continue;
    Mismatch found{wrong, s.recv_offset + first, s.recv_offset + last, {}};
    if (result.wrong == 0) {
      const std::size_t occurrence = s.repeat > 1 ? first / s.recv_stride : 0;
      const std::size_t i = first - occurrence * s.recv_stride;
      std::vector<std::byte> bytes(std::min(s.count - i, explained_elements) * width);
      loops_->fetch(bytes.data(), data + found.first * width, bytes.size());
      found.explanation = explain(bytes.data(), bytes.size() / width, s,
                                  s.source_offset + occurrence * s.source_stride + i, slot);
      found.explanation +=
          "; " + second_look(*loops_, runs[k], source_of(s).table, tolerance, differences[k]);
    }
    result.add(found);
  }
  return result;
}

Mismatch Verifier::judge(const StridedRange& run, const Table& table, const Difference& different,
                         const ExpectedBlock& block, std::size_t slot) const {
  constexpr std::size_t observed = 4096;      // elements whose choices are reported
  constexpr std::uint64_t classified = 1024;  // wrong elements
  const StandardArithmetic standard;
  const Inputs& inputs = pattern_->inputs();
  const std::size_t width = pattern_->width();
  const std::size_t all = run.blocks > 1 ? (run.blocks - 1) * run.stride + run.count : run.count;
  const bool special = inputs.kind() == DataKind::special;
  if (known_.empty()) {
    known_.resize(inputs.period());
    for (std::size_t j = 0; j < known_.size(); ++j) known_[j] = bits_at(table.at(j), width);
  }
  Mismatch result;
  unsigned common = ~0U;
  std::array<std::uint64_t, wrong_kinds> counts{};
  std::uint64_t looked_at = 0;
  std::optional<std::uint64_t> nearest;
  const auto visit = [&](std::size_t at, std::size_t index, const std::byte* bytes) {
    const std::uint64_t found = bits_at(bytes, width);
    const std::size_t j = index % inputs.period();
    const bool observes = special && at < observed;
    if (!observes && (found == bits_at(table.at(j), width) || found == known_[j])) return;
    const RightResults right(inputs, j);
    if (right.is_right(found, result.seen)) {
      known_[j] = found;
      return;
    }
    if (result.wrong++ == 0) {
      result.first = at;
      nearest = right.nearest(found);
    }
    result.last = at;
    if (looked_at == classified) return;
    ++looked_at;
    const unsigned kinds = right.kinds(found);
    common &= kinds;
    ++counts.at(static_cast<std::size_t>(std::countr_zero(kinds)));
  };
  const std::size_t begin = special ? 0 : different.first;
  std::size_t end = different.wrong > 0 ? different.last + 1 : 0;
  if (special) end = std::max(end, std::min(all, observed));
  if (begin < end) for_each_element(*loops_, run, width, begin, end, visit);
  if (all > 0 && (special || !RightResults::all_orders_known(inputs.ranks()))) {
    std::vector<std::uint64_t> words;
    result.received = mix(mix(block.source_offset) + all);
    result.digest = 1;
    const auto digest_words = [&] {
      result.digest = digest(std::as_bytes(std::span(words)), result.digest);
      words.clear();
    };
    for_each_element(*loops_, run, width, 0, all,
                     [&](std::size_t, std::size_t, const std::byte* bytes) {
                       // Which bits a NaN has, and the sign of a zero, are open.
                       const double value = value_at(inputs.type(), bytes);
                       words.push_back(std::isnan(value)       ? ~std::uint64_t{0}
                                       : special || value == 0 ? 0
                                                               : bits_at(bytes, width));
                       if (words.size() == observed) digest_words();
                     });
    digest_words();
  }
  if (result.wrong == 0) return result;
  const std::size_t occurrence = block.repeat > 1 ? result.first / block.recv_stride : 0;
  const std::size_t i = result.first - occurrence * block.recv_stride;
  std::vector<std::byte> first(std::min(block.count - i, explained_elements) * width);
  loops_->fetch(first.data(), run.data + result.first * width, first.size());
  const bool known_kind = (common & ~(1U << static_cast<unsigned>(WrongKind::other))) != 0;
  result.explanation =
      explain(first.data(), first.size() / width, block,
              block.source_offset + occurrence * block.source_stride + i, slot, nearest,
              known_kind ? kinds_text(common, counts, looked_at, result.wrong) : "");
  if (!known_kind) result.explanation += "; " + kinds_text(common, counts, looked_at, result.wrong);
  result.first += block.recv_offset;
  result.last += block.recv_offset;
  return result;
}

Mismatch Verifier::compare_sum(const std::byte* data, const ExpectedBlock& block,
                               std::size_t slot) const {
  const std::size_t width = pattern_->width();
  std::vector<std::byte> found(block.count * width), expected(block.count * width);
  loops_->fetch(found.data(), data + block.recv_offset * width, found.size());
  pattern_->sum(block, 0, slot, expected);
  Mismatch result;
  if (found == expected) return result;
  std::size_t first = 0;
  for (std::size_t i = 0; i < block.count; ++i) {
    if (std::memcmp(&found[i * width], &expected[i * width], width) == 0) continue;
    if (result.wrong++ == 0) first = i;
    result.last = block.recv_offset + i;
  }
  result.first = block.recv_offset + first;
  const std::byte* const at = &found[first * width];
  const auto poisoned = [&](std::size_t b) {
    return at[b] == poison_byte || at[b] == ~expected[first * width + b];
  };
  std::size_t b = 0;
  while (b < width && poisoned(b)) ++b;
  const std::string meaning =
      b == width ? "never written"
                 : diagnose_sum(*pattern_, at, block.count - first, block, first, slot);
  result.explanation = fmt::format(
      "expected 0x{:0{}x}, found 0x{:0{}x}{}{}", bits_at(&expected[first * width], width),
      2 * width, bits_at(at, width), 2 * width, meaning.empty() ? "" : ": ", meaning);
  return result;
}

std::string Verifier::explain(const std::byte* found, std::size_t count, const ExpectedBlock& block,
                              std::size_t at, std::size_t slot,
                              std::optional<std::uint64_t> nearest, std::string meaning) const {
  const std::size_t width = pattern_->width();
  const std::uint64_t expected =
      nearest.value_or(bits_at(source_of(block).table.at(at + phase_of(block, slot)), width));
  const auto text = [&](std::uint64_t bits) {
    if (pattern_->inputs().kind() == DataKind::exact)
      return fmt::format("0x{:0{}x}", bits, 2 * width);
    return element_text(pattern_->inputs().type(), reinterpret_cast<const std::byte*>(&bits));
  };
  const auto all_poison = [&] {
    const std::size_t bytes = std::min<std::size_t>(count, 16) * width;
    return std::all_of(found, found + bytes,
                       [](std::byte b) { return b == poison_byte || b == ~poison_byte; });
  };
  if (all_poison())
    meaning = "never written";
  else if (meaning.empty())
    meaning = diagnose(*pattern_, rank_, found, count, block, at, slot);
  return fmt::format("expected {}, found {}{}{}", text(expected), text(bits_at(found, width)),
                     meaning.empty() ? "" : ": ", meaning);
}

Mismatch Verifier::compare_input(const void* send, std::size_t count, std::size_t slot) const {
  const StridedRange run{.data = static_cast<const std::byte*>(send),
                         .table = input_.placed.get(),
                         .first = pattern_->phase(rank_, slot),
                         .count = count};
  const Difference found = loops_->compare({&run, 1}, 0).front();
  if (found.wrong == 0) return {};
  return {found.wrong, found.first, found.last,
          "the send buffer was changed; " + second_look(*loops_, run, input_.table, 0, found)};
}

void Verifier::clear(void* out, std::size_t bytes) const {
  if (bytes > 0) loops_->set(static_cast<std::byte*>(out), std::byte{0}, bytes);
}

void Verifier::mark_guards(void* begin, std::size_t bytes) const {
  auto* const data = static_cast<std::byte*>(begin);
  loops_->set(data - guard_bytes, guard_byte, guard_bytes);
  loops_->set(data + bytes, guard_byte, guard_bytes);
}

Mismatch Verifier::check_guards(const void* begin, std::size_t bytes) const {
  const auto* const data = static_cast<const std::byte*>(begin);
  const auto changed = [&](const std::byte* zone) {
    std::array<std::byte, guard_bytes> found;
    loops_->fetch(found.data(), zone, guard_bytes);
    return static_cast<std::uint64_t>(
        std::count_if(found.begin(), found.end(), [](std::byte b) { return b != guard_byte; }));
  };
  const std::uint64_t before = changed(data - guard_bytes);
  const std::uint64_t behind = changed(data + bytes);
  Mismatch result;
  result.wrong = before + behind;
  if (result.wrong != 0)
    result.explanation = fmt::format("{} bytes written {} the buffer", result.wrong,
                                     behind != 0 ? "past the end of" : "before");
  return result;
}

}  // namespace ccl_tests::verify
