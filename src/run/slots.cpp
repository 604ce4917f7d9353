#include "src/run/slots.hpp"

#include <algorithm>
#include <set>

namespace ccl_tests {
namespace {

constexpr std::size_t line = 64;

// Larger rows repeat one call on one slot, as programs do. From 128 KiB on it matters how many there are, though
// they fit into a cache: with two to four, all_reduce of 128 KiB to 1 MiB over Open MPI and MPICH takes 0.8 to 0.94
// times as long, of 4 MiB 1.6 times (results/2026-11-25-debian12-2core-sweeps).
constexpr std::size_t most_warm_with_two = 64 << 10;

std::size_t data_of(std::size_t bytes) { return std::max(line, (bytes + line - 1) / line * line); }

// Slots whose data fit into the footprint in both buffers. No more than that each can lie on a page of its
// own for which a core has an entry in its first-level TLB (64 on current CPUs). Small rows whose library finds
// them in the first-level cache when a program repeats one call stay in a quarter of it (32 KiB or more on
// current CPUs): all_reduce of 1 KiB over Open MPI takes 1.07 times as long with 32 slots, 1.02 times with 4.
std::size_t warm_slots(std::size_t data, std::size_t footprint) {
  constexpr std::size_t most = 32, nearest = 8 << 10, least = 2;
  if (data > most_warm_with_two) return 1;
  const std::size_t near = nearest / 2 / data;
  return std::min(near >= least ? near : footprint / 2 / data, most);
}

// Slots of one buffer that hold half of the footprint. An eighth more is for the guard zones of
// slots from 64 KiB on: smaller ones are fewer than their data alone would ask for.
std::size_t rotated_slots(std::size_t data, std::size_t stride, std::size_t footprint) {
  const std::size_t half = footprint / 2;
  const auto that_cover = [](std::size_t bytes, std::size_t each) {
    return (bytes + each - 1) / each;
  };
  return std::min(that_cover(half, data), that_cover(half + half / 8, stride));
}

}  // namespace

std::size_t footprint(const SlotRule& rule) {
  constexpr std::size_t of_unknown = std::size_t{128} << 20;
  if (rule.cache_bytes == 0) return of_unknown;
  switch (rule.use) {
    case CacheUse::warm: return rule.cache_bytes / 2;  // the library has buffers of its own
    case CacheUse::rotate: return 4 * rule.cache_bytes;
    case CacheUse::cold: return 2 * rule.cache_bytes;
  }
  return 0;
}

std::size_t footprint_to_be_had(const SlotRule& rule) {
  return 2 * std::min(footprint(rule) / 2, rule.most_bytes);
}

Slots plan_slots(std::size_t bytes, std::size_t shift, const SlotRule& rule) {
  const std::size_t most_with_two = rule.use == CacheUse::warm ? most_warm_with_two : 8 << 20;
  const std::size_t data = data_of(bytes);
  Slots slots{.bytes = bytes, .stride = data + verify::guard_bytes, .shift = shift};
  const std::size_t room = rule.use == CacheUse::warm
                               ? warm_slots(data, footprint(rule))
                               : rotated_slots(data, slots.stride, footprint(rule));
  const std::size_t least = bytes <= most_with_two ? 2 : 1;
  const std::size_t free = rule.most_bytes - std::min(rule.most_bytes, slots.offset(0));
  slots.count =
      std::max<std::size_t>(1, std::min({rule.wanted, std::max(least, room), free / slots.stride}));
  return slots;
}

std::size_t calls_per_block(const Slots& slots, const SlotRule& rule) {
  const bool repeats = 2 * slots.count * data_of(slots.bytes) >= footprint(rule);
  return rule.use != CacheUse::cold || repeats ? 0 : slots.count;
}

RowBytes row_bytes(const Collective& collective, const Shape& shape) {
  RowBytes result;
  Shape s = shape;
  for (const int rank : std::set<int>{0, shape.root, shape.self.ranks - 1}) {
    s.self.rank = rank;
    const Layout layout = collective.layout(s);
    const std::size_t larger = std::max(layout.send, layout.recv);
    result.size = std::max(result.size, larger / layout.messages * s.type_bytes);
    const InPlace at = layout.in_place.value_or(InPlace{0, 0});
    const std::size_t end = std::max(at.send + layout.send, at.recv + layout.recv);
    result.region = std::max(result.region, end * s.type_bytes);
  }
  if (collective.largest != nullptr) {
    const std::size_t bytes = collective.largest(shape) * shape.type_bytes;
    result.size = std::max(result.size, bytes);
    result.region = std::max(result.region, bytes);
  }
  return result;
}

}  // namespace ccl_tests
