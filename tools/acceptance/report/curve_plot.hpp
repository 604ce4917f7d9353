// Bus bandwidth over size as pictures, both axes logarithmic, with intervals and limits.
#pragma once

#include <string>
#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns the sizes, as words, whose bandwidth is below its limit: "64 MiB: 231 of 360 GB/s".
std::vector<std::string> below_limit(const Curve& curve);

// Returns figures of HTML with inline SVG: curves of the same stage, program and type together,
// those with a point below its limit first. Needs the colours of html_style.
std::string curve_figures(const std::vector<Curve>& curves);

}  // namespace ccl_tests::acceptance
