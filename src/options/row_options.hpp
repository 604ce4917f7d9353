// Options about rows whose values have types of their own: -O, --cache and the limits.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// One of a row's two placements, or both.
enum class Placements { both, out_of_place, in_place };

// The name in files of the placements that a run measured.
constexpr std::string_view placements_setting = "placements";

constexpr std::string_view name(Placements some) {
  constexpr std::array<std::string_view, 3> names = {"both", "out_of_place", "in_place"};
  return names[static_cast<std::size_t>(some)];
}

// Returns whether one of them is the placement in place, or the one out of place.
constexpr bool includes(Placements some, bool in_place) {
  return some == Placements::both || (some == Placements::in_place) == in_place;
}

// Returns how many there are.
constexpr std::size_t number_of(Placements some) { return some == Placements::both ? 2 : 1; }

// The memory that the data of a row's timed calls come from.
// warm: the L2 cache. rotate: memory beyond the L2 cache. cold: memory beyond the last-level cache.
enum class CacheUse { warm, rotate, cold };

constexpr std::string_view name(CacheUse use) {
  constexpr std::array<std::string_view, 3> names = {"warm", "rotate", "cold"};
  return names[static_cast<std::size_t>(use)];
}

// Limits that a run must keep to pass.

// GB/s or microseconds of the rows of one size.
struct SizeLimit {
  std::size_t bytes;
  double value;
  Placements times = Placements::both;  // that the limit is of
};

struct Limits {
  std::vector<SizeLimit> min_busbw, max_time;
  std::optional<double> min_average_busbw;  // GB/s
  std::string baseline;                     // the results of an earlier run; empty: none
  double tolerance = 0.2;                   // times may be longer than its by this share

  bool of_rows() const { return !min_busbw.empty() || !max_time.empty() || !baseline.empty(); }
};

}  // namespace ccl_tests
