// Objects: byte strings whose lengths the other ranks do not know.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "src/primitives/group.hpp"

namespace ccl_tests::primitives {

using Bytes = std::span<const std::byte>;

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Objects that a call brought: views into storage, which the next call with this result reuses.
struct Objects {
  Buffer storage;
  std::vector<std::size_t> offsets, sizes;  // bytes

  std::size_t count() const { return sizes.size(); }
  Bytes object(std::size_t i) const { return {storage.data() + offsets[i], sizes[i]}; }
  std::string_view text(std::size_t i) const { return text_of(object(i)); }
  void clear() {
    offsets.clear();
    sizes.clear();
  }
};

// All three are collective. Lengths travel as int64 and are counted in 64 bits from end to end.
// They throw what the library throws, and Error when it delivers lengths that cannot be.

// Every rank's `objects` replaced by rank src's, in `result`. k = objects.size() must be the same
// on all ranks (check_list); elsewhere than on src only the sizes of `objects` are read, and do not
// matter. As torch.distributed.broadcast_object_list: broadcast int64[k], broadcast uint8[sum].
void broadcast_object_list(Group& group, std::span<const Bytes> objects, int src, Objects& result);

// Every rank's object on every rank, by rank. As torch.distributed.all_gather_object: all_gather
// int64[1], all_gather uint8[max]; a shorter object is padded with `padding`, which nobody reads.
void all_gather_object(Group& group, Bytes object, Objects& result);

// Every rank's object on rank dst, by rank; elsewhere the result is empty. As
// torch.distributed.gather_object: all_gather int64[1], gather uint8[max].
void gather_object(Group& group, Bytes object, int dst, Objects& result);

inline constexpr std::byte padding{0xA5};

// Where objects of these lengths lie in one buffer, one after the other or each padded to the
// longest. Fills `offsets`; returns the bytes of the buffer. Not collective.
std::size_t lay_out_packed(std::span<const std::size_t> sizes, std::vector<std::size_t>& offsets);
std::size_t lay_out_padded(std::span<const std::size_t> sizes, std::vector<std::size_t>& offsets);

// Bytes on the wire for one byte of the objects when all are padded to the longest: n * max / sum;
// 1 when all are empty.
double padding_waste(std::span<const std::size_t> sizes);

}  // namespace ccl_tests::primitives
