// Times of pairs of hosts as a picture: a row for each sender, a column for each receiver.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/acceptance/record.hpp"
#include "tools/acceptance/report/findings.hpp"

namespace ccl_tests::acceptance {

// Steps of the colour scale: a pair's time divided by the median of all pairs. Step 0 is faster
// than usual, step 1 usual, the others are slower.
struct HeatStep {
  double below;  // the step ends here
  std::string label;
};
const std::vector<HeatStep>& heat_steps();
// Returns the step of a ratio; -1 for NaN.
int heat_step(double ratio);

// Returns the median of the times between different hosts; NaN if nothing was measured.
double median_pair(const PairMatrix& matrix, std::size_t hosts);

// Returns the hosts that have a label, if `cell` pixels is a row's height and `line` a label's: all
// suspects that do not cover each other, and of the others each n-th with room.
std::vector<std::size_t> labelled(std::size_t hosts, const std::vector<bool>& suspect, double cell,
                                  double line);

// Returns the picture as inline SVG, or a paragraph that says why there is none. Needs the patterns
// and colours of html_style.
std::string heat_map_svg(const PairMatrix& matrix, const std::vector<Host>& hosts,
                         const Suspects& suspects);

// Returns the colour scale as HTML.
std::string heat_legend(double median_s);

}  // namespace ccl_tests::acceptance
