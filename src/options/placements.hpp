// Which of a row's two placements something is about.
#pragma once

#include <cstddef>
#include <string_view>

namespace ccl_tests {

enum class Placements { both, out_of_place, in_place };

// What files call the placements that a run measured.
constexpr std::string_view placements_setting = "placements";

// "both", "out_of_place", "in_place".
constexpr std::string_view name(Placements some) {
  switch (some) {
    case Placements::both: return "both";
    case Placements::out_of_place: return "out_of_place";
    case Placements::in_place: return "in_place";
  }
  return {};
}

// Returns whether one of them is the placement in place, or the one out of place.
constexpr bool includes(Placements some, bool in_place) {
  return some == Placements::both || (some == Placements::in_place) == in_place;
}

// Returns how many there are.
constexpr std::size_t number_of(Placements some) { return some == Placements::both ? 2 : 1; }

}  // namespace ccl_tests
