// A list of items as one object, as collect_results sends and writes it: their number, their
// lengths in bytes, each in 8 bytes, and the items.
#pragma once

#include <cstddef>
#include <span>

#include "src/primitives/results.hpp"

namespace ccl_tests::primitives {

// In the group's workspace, until the next call.
Bytes pack_list(Group& group, std::span<const Bytes> part);

// Both throw Error on bytes that are no list.
class PackedList {
 public:
  explicit PackedList(Bytes packed);
  std::size_t count() const { return number(0); }
  Bytes next();  // the first item, the second, ...

 private:
  std::size_t number(std::size_t i) const;

  Bytes packed_;
  std::size_t begin_ = 0;  // of the next item
  std::size_t taken_ = 0;
};

// Throws Error, naming the rank, when a rank's number of items, of `counts` by rank, leaves a place
// before the end or before `size` empty.
void check_places(std::span<const std::size_t> counts, std::size_t size);

// results.items, which are empty, from results.parts; see collect_results.
void put_together(const Group& group, std::size_t size, Results& results);

}  // namespace ccl_tests::primitives
