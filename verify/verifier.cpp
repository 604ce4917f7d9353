#include "verify/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "verify/diagnosis.hpp"

namespace ccl::verify {
namespace {

constexpr std::byte poison_byte{0xa5};
constexpr std::byte guard_byte{0x5a};
// Up to this many elements, poison is made different from what is expected element by element; in
// longer rows some elements may equal it by chance, but never a whole row.
constexpr std::size_t exact_poison = 4096;

// Distance in units in the last place between two finite or infinite values of a floating-point
// type, by their bits.
template <class U>
std::uint64_t ulp_distance(U a, U b) {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const auto ordered = [](U bits) {
    return static_cast<U>((bits & sign) != 0 ? static_cast<U>(~bits) : static_cast<U>(bits | sign));
  };
  const U oa = ordered(a);
  const U ob = ordered(b);
  return oa > ob ? static_cast<U>(oa - ob) : static_cast<U>(ob - oa);
}

// Calls f with an unsigned integer of `width` bytes.
template <class F>
decltype(auto) with_width(std::size_t width, F&& f) {
  switch (width) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    default: return f.template operator()<std::uint64_t>();
  }
}

template <class U>
U load(const std::byte* p) {
  U value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Counts elements farther than `tolerance` from the table's; first and last are set when there are
// any.
template <class U>
Mismatch count_far(const std::byte* data, std::size_t count, const std::byte* table,
                   std::uint64_t tolerance) {
  // In one width and without branches, so that the compiler vectorises it: values of one sign are
  // as far apart as their bits; bits of values of different signs are far apart. (Expected averages
  // are never near 0.)
  const U near = static_cast<U>(tolerance);
  const U span = static_cast<U>(2 * near);
  U far = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const U difference =
        static_cast<U>(load<U>(data + i * sizeof(U)) - load<U>(table + i * sizeof(U)));
    far = static_cast<U>(far | static_cast<U>(static_cast<U>(difference + near) > span ? 1 : 0));
  }
  Mismatch result;
  if (far == 0) return result;
  for (std::size_t i = 0; i < count; ++i) {
    const U found = load<U>(data + i * sizeof(U));
    const U expected = load<U>(table + i * sizeof(U));
    if (ulp_distance(found, expected) <= tolerance) continue;
    if (result.wrong++ == 0) result.first = i;
    result.last = i;
  }
  return result;
}

}  // namespace

void Mismatch::add(const Mismatch& other) {
  if (other.wrong == 0) return;
  if (wrong == 0) {
    *this = other;
    return;
  }
  wrong += other.wrong;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

HostVerifier::HostVerifier(std::shared_ptr<const Pattern> pattern, int rank)
    : pattern_(std::move(pattern)), rank_(rank), input_(pattern_->input(rank)) {}

void HostVerifier::fill_input(void* out, std::size_t count, std::size_t slot) const {
  input_.copy_to(static_cast<std::byte*>(out), count, pattern_->phase(rank_, slot));
}

// Data movement: the sender's phase. Reduction: phases do not depend on the rank.
std::size_t HostVerifier::phase_of(const Segment& segment, std::size_t slot) const {
  return pattern_->phase(segment.from == Segment::all_ranks ? rank_ : segment.from, slot);
}

const Table& HostVerifier::table_of(const Segment& segment) const {
  return segment.from == Segment::all_ranks || !pattern_->reduces() ? pattern_->expected() : input_;
}

void HostVerifier::poison(void* out, std::size_t count, std::span<const Segment> segments,
                          std::size_t slot) const {
  auto* const data = static_cast<std::byte*>(out);
  const std::size_t width = pattern_->width();
  std::memset(data, static_cast<int>(poison_byte), count * width);
  if (count > exact_poison) return;
  for (const Segment& s : segments) {
    for (std::size_t block = 0; block < s.blocks; ++block) {
      const std::size_t start = s.out + block * s.out_stride;
      const std::size_t first = s.at + block * s.at_stride + phase_of(s, slot);
      for (std::size_t i = 0; i < s.count; ++i) {
        std::byte* const element = data + (start + i) * width;
        if (std::memcmp(element, table_of(s).at(first + i), width) != 0) continue;
        for (std::size_t b = 0; b < width; ++b) element[b] = ~poison_byte;
      }
    }
  }
}

Mismatch HostVerifier::compare_run(const std::byte* data, std::size_t count, const Table& table,
                                   std::size_t first) const {
  const std::size_t width = table.width();
  const auto tolerance = static_cast<std::uint64_t>(pattern_->inputs().tolerance());
  Mismatch result;
  std::size_t done = 0;
  if (tolerance == 0 || !pattern_->reduces()) {
    const auto difference = table.first_difference(data, count, first);
    if (!difference) return result;
    done = *difference;
  }
  while (done < count) {
    const std::size_t piece = std::min(count - done, table.period());
    const std::byte* const expected = table.at(first + done);
    Mismatch found = with_width(width, [&]<class U>() {
      return count_far<U>(data + done * width, piece, expected, tolerance);
    });
    found.first += done;
    found.last += done;
    result.add(found);
    done += piece;
  }
  return result;
}

Mismatch HostVerifier::compare(const void* recv, std::span<const Segment> segments,
                               std::size_t slot) const {
  const auto* const data = static_cast<const std::byte*>(recv);
  const std::size_t width = pattern_->width();
  Mismatch result;
  for (const Segment& s : segments) {
    for (std::size_t block = 0; block < s.blocks; ++block) {
      const std::size_t start = s.out + block * s.out_stride;
      const std::size_t at = s.at + block * s.at_stride;
      Mismatch found =
          compare_run(data + start * width, s.count, table_of(s), at + phase_of(s, slot));
      if (found.wrong == 0) continue;
      if (result.wrong == 0) {
        const std::size_t bad = found.first;
        found.explanation = explain(data + (start + bad) * width, s.count - bad, s, at + bad, slot);
      }
      found.first += start;
      found.last += start;
      result.add(found);
    }
  }
  return result;
}

std::string HostVerifier::explain(const std::byte* found, std::size_t count, const Segment& segment,
                                  std::size_t at, std::size_t slot) const {
  const std::size_t width = pattern_->width();
  const std::byte* const expected = table_of(segment).at(at + phase_of(segment, slot));
  const auto hex = [&](const std::byte* p) {
    return with_width(width,
                      [&]<class U>() { return fmt::format("0x{:0{}x}", load<U>(p), 2 * width); });
  };
  const auto all_poison = [&] {
    const std::size_t bytes = std::min<std::size_t>(count, 16) * width;
    return std::all_of(found, found + bytes,
                       [](std::byte b) { return b == poison_byte || b == ~poison_byte; });
  };
  const std::string meaning =
      all_poison() ? "never written" : diagnose(*pattern_, rank_, found, count, segment, at, slot);
  return fmt::format("expected {}, found {}{}{}", hex(expected), hex(found),
                     meaning.empty() ? "" : ": ", meaning);
}

Mismatch HostVerifier::compare_input(const void* send, std::size_t count, std::size_t slot) const {
  const auto* const data = static_cast<const std::byte*>(send);
  const auto difference = input_.first_difference(data, count, pattern_->phase(rank_, slot));
  if (!difference) return {};
  return {1, *difference, *difference, "the send buffer was changed"};
}

void HostVerifier::mark_guards(void* begin, std::size_t bytes) {
  auto* const data = static_cast<std::byte*>(begin);
  std::memset(data - guard_bytes, static_cast<int>(guard_byte), guard_bytes);
  std::memset(data + bytes, static_cast<int>(guard_byte), guard_bytes);
}

Mismatch HostVerifier::check_guards(const void* begin, std::size_t bytes) {
  const auto* const data = static_cast<const std::byte*>(begin);
  const auto changed = [](const std::byte* zone) {
    return std::count_if(zone, zone + guard_bytes, [](std::byte b) { return b != guard_byte; });
  };
  const auto before = static_cast<std::uint64_t>(changed(data - guard_bytes));
  const auto behind = static_cast<std::uint64_t>(changed(data + bytes));
  Mismatch result;
  result.wrong = before + behind;
  if (result.wrong != 0) {
    result.explanation = fmt::format("{} bytes written {} the buffer", result.wrong,
                                     behind != 0 ? "behind the end of" : "before");
  }
  return result;
}

}  // namespace ccl::verify
