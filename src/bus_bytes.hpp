// What bus bandwidth counts, derived from what has to move rather than from the specs' formulas.
#pragma once

#include <optional>
#include <string>

#include "src/core/collective.hpp"

namespace ccl_tests {

// The bytes that the most loaded rank must at least send or receive, counted from the segments:
// data from another rank must come in once; a result over all ranks needs every other rank's part
// moved to where it is reduced. Compares them with algbw_bytes x bus_factor and says what differs;
// empty: they agree.
std::optional<std::string> bus_factor_error(const Collective& collective, const Shape& shape);

}  // namespace ccl_tests
