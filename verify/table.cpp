#include "verify/table.hpp"

#include <algorithm>
#include <cstring>

namespace ccl_tests::verify {
namespace {

// Long enough that the loop around memcpy and memcmp costs nothing, short enough to stay in the
// L1/L2 cache.
constexpr std::size_t table_bytes = 32 * 1024;

// Calls visit(table bytes, offset in data, bytes) for each contiguous piece; stops when it returns
// false.
template <class Visit>
void for_each_piece(std::span<const std::byte> table, std::size_t start, std::size_t bytes,
                    Visit&& visit) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min(bytes - done, table.size() - start);
    if (!visit(table.data() + start, done, piece)) return;
    done += piece;
    start = 0;
  }
}

}  // namespace

Table::Table(std::span<const std::byte> period, std::size_t width)
    : period_(period.size() / width), width_(width) {
  // At least two periods, so that a period can be read from any phase without a wrap.
  const std::size_t copies = std::max<std::size_t>(2, table_bytes / period.size());
  bytes_.reserve(copies * period.size());
  for (std::size_t i = 0; i < copies; ++i)
    bytes_.insert(bytes_.end(), period.begin(), period.end());
}

void Table::copy_to(std::byte* out, std::size_t count, std::size_t first) const {
  for_each_piece(bytes_, (first % period_) * width_, count * width_,
                 [&](const std::byte* piece, std::size_t offset, std::size_t bytes) {
                   std::memcpy(out + offset, piece, bytes);
                   return true;
                 });
}

std::optional<std::size_t> Table::first_difference(const std::byte* data, std::size_t count,
                                                   std::size_t first) const {
  std::optional<std::size_t> found;
  for_each_piece(bytes_, (first % period_) * width_, count * width_,
                 [&](const std::byte* piece, std::size_t offset, std::size_t bytes) {
                   if (std::memcmp(data + offset, piece, bytes) == 0) return true;
                   const auto* const end = piece + bytes;
                   const auto* const differs = std::mismatch(piece, end, data + offset).first;
                   found = (offset + static_cast<std::size_t>(differs - piece)) / width_;
                   return false;
                 });
  return found;
}

}  // namespace ccl_tests::verify
