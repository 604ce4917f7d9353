// What bus bandwidth counts, derived from what has to move rather than from the specs' formulas.
#pragma once

#include <optional>
#include <string>

#include "src/core/collective.hpp"

namespace ccl_tests {

// Counts from the expected blocks the bytes that the most loaded rank must at least send or
// receive. Data from another rank must come in once. A result over all ranks needs every other
// rank's part moved to where the part is reduced. Returns how the count differs from algbw_bytes x
// bus_factor, or nullopt if both agree.
std::optional<std::string> bus_factor_error(const Collective& collective, const Shape& shape);

}  // namespace ccl_tests
