#include "tools/verifier_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ccl_tests::tools {
namespace {

constexpr std::size_t longest_stretch = 5000;  // elements: longer than a period
constexpr std::size_t vector_bytes = 16;       // what a GPU loads at a time
constexpr std::size_t many_flips = 17;
constexpr std::byte poison_byte{0xa5};  // the verifier's, where rows are long

Patch elements(const RightRow& row, std::size_t at, std::size_t count, const std::byte* from) {
  const std::size_t width = row.pattern.width();
  return {static_cast<std::ptrdiff_t>(at * width), {from, from + count * width}};
}

// The row's first and last elements, those on either side of where whole vectors begin and end, and
// some between.
std::set<std::size_t> places(const RightRow& row, std::mt19937_64& random) {
  const std::size_t width = row.pattern.width();
  const std::size_t per_vector = vector_bytes / width;
  const std::size_t head = (vector_bytes - row.shift % vector_bytes) % vector_bytes / width;
  const std::size_t whole = row.count < head ? 0 : (row.count - head) / per_vector * per_vector;
  const std::size_t behind = head + whole;
  std::set<std::size_t> all = {0, 1, head, head + 1, behind, row.count / 2, row.count - 1};
  if (head > 0) all.insert(head - 1);
  if (behind > 0) all.insert(behind - 1);
  if (behind >= per_vector) all.insert(behind - per_vector);
  for (int i = 0; i < 3; ++i) all.insert(random() % row.count);
  all.erase(all.lower_bound(row.count), all.end());
  return all;
}

// A stretch of the row that is what `table` has from `first` on at the row's first element.
Fault replaced(const RightRow& row, std::string name, const verify::Table& table,
               std::size_t first) {
  const std::size_t at = row.count / 3;
  const std::size_t count = std::min(row.count - at, longest_stretch);
  std::vector<std::byte> data(count * row.pattern.width());
  table.copy_to(data.data(), count, first + at);
  return {std::move(name), {elements(row, at, count, data.data())}};
}

Fault swapped(const RightRow& row) {
  const std::size_t count = std::min(row.count / 2, longest_stretch);
  const std::size_t second = row.count - count;
  const std::size_t width = row.pattern.width();
  return {
      "swapped blocks",
      {elements(row, 0, count, row.data + second * width), elements(row, second, count, row.data)}};
}

Fault never_written(const RightRow& row) {
  const std::size_t at = row.count / 2;
  const std::size_t count = std::min(row.count - at, longest_stretch);
  const std::vector<std::byte> poison(count * row.pattern.width(), poison_byte);
  return {"never written", {elements(row, at, count, poison.data())}};
}

Fault several(const RightRow& row, std::mt19937_64& random) {
  std::set<std::size_t> at;
  for (std::size_t i = 0; i < many_flips; ++i) at.insert(random() % row.count);
  Fault all{fmt::format("{} wrong elements", at.size()), {}};
  for (const std::size_t element : at)
    all.patches.push_back(flip(row, element, random() % (8 * row.pattern.width())));
  return all;
}

}  // namespace

verify::Table without_rank_2(const verify::Pattern& pattern) {
  if (!pattern.reduces()) return {};
  const std::size_t period = pattern.inputs().period();
  std::vector<std::byte> bytes(period * pattern.width());
  for (std::size_t j = 0; j < period; ++j) {
    const std::uint64_t bits = pattern.inputs().reduced(j, 2);
    std::memcpy(bytes.data() + j * pattern.width(), &bits, pattern.width());  // little endian
  }
  return verify::Table(bytes, pattern.width());
}

Patch flip(const RightRow& row, std::size_t at, std::size_t bit) {
  Patch patch = elements(row, at, 1, row.data + at * row.pattern.width());
  patch.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  return patch;
}

Fault flipped(const RightRow& row, std::size_t at, std::size_t bit) {
  const bool gross = bit == 8 * row.pattern.width() - 2;  // an exponent's
  return {fmt::format("bit {} of element {} flipped", bit, at), {flip(row, at, bit)}, gross};
}

std::vector<Fault> faults_of(const RightRow& row, const verify::Table& without,
                             std::mt19937_64& random) {
  if (row.count == 0) return {};
  const std::size_t bits = 8 * row.pattern.width();
  std::vector<Fault> faults;
  for (const std::size_t at : places(row, random)) {
    for (const std::size_t bit : {bits - 2, random() % bits})
      faults.push_back(flipped(row, at, bit));
  }
  faults.push_back(several(row, random));
  faults.push_back(never_written(row));
  if (row.count > 1) faults.push_back(swapped(row));
  const verify::Pattern& pattern = row.pattern;
  const int from = pattern.reduces() ? 0 : 1;
  faults.push_back(replaced(row, "an earlier call's result", pattern.expected(),
                            pattern.phase(from, row.slot + 1)));
  if (pattern.reduces()) {
    faults.push_back(replaced(row, "without rank 2", without, pattern.phase(0, row.slot)));
    faults.push_back(
        replaced(row, "this rank's input", pattern.input(0), pattern.phase(0, row.slot)));
  } else {
    faults.push_back(
        replaced(row, "rank 2's data", pattern.expected(), pattern.phase(2, row.slot)));
  }
  return faults;
}

}  // namespace ccl_tests::tools
