#include "verify/second_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace ccl_tests::verify {
namespace {

std::uint64_t bits_at(const std::byte* element, std::size_t width) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, width);  // little endian
  return bits;
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

Difference look_again(Loops& loops, const StridedRange& run, const Table& table,
                      std::uint64_t tolerance, std::size_t begin, std::size_t end) {
  const std::size_t width = table.width();
  const std::size_t stride = run.blocks > 1 ? run.stride : run.count;
  const std::size_t piece = (std::size_t{1} << 20) / width;
  std::vector<std::byte> copy(std::min(end - begin, piece) * width);
  Difference result;
  for (std::size_t at = begin; at < end; ++at) {
    const std::size_t in_piece = (at - begin) % piece;
    if (in_piece == 0)
      loops.fetch(copy.data(), run.data + at * width, std::min(end - at, piece) * width);
    const std::size_t block = at / stride;
    const std::size_t i = at % stride;
    if (i >= run.count) continue;  // between two blocks
    const std::byte* const expected = table.at(run.first + block * run.table_stride + i);
    const std::byte* const found = copy.data() + in_piece * width;
    if (is_right(bits_at(found, width), bits_at(expected, width), width, tolerance)) continue;
    if (result.wrong++ == 0) result.first = at;
    result.last = at;
  }
  return result;
}

}  // namespace

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

}  // namespace ccl_tests::verify
