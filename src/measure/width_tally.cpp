#include "src/measure/width_tally.hpp"

#include <algorithm>

namespace ccl_tests {

void WidthTally::add(std::optional<double> half_width) {
  ++number_;
  if (!half_width || *half_width > wide) ++wider_;
  if (!half_width) return;
  const auto step = std::lower_bound(steps.begin(), steps.end(), *half_width);
  if (step != steps.end()) ++counts_.at(static_cast<std::size_t>(step - steps.begin()));
}

std::optional<double> WidthTally::most_within() const {
  const std::size_t most = (3 * number_ + 3) / 4;
  std::size_t found = 0;
  for (std::size_t i = 0; i < steps.size() && number_ > 0; ++i)
    if ((found += counts_.at(i)) >= most) return steps.at(i);
  return std::nullopt;
}

std::size_t WidthTally::others() const {
  const std::optional<double> most = most_within();
  std::size_t found = 0;
  for (std::size_t i = 0; most && i < steps.size() && steps.at(i) <= *most; ++i)
    found += counts_.at(i);
  return number_ - found;
}

std::optional<double> WidthTally::step_of(double half_width) {
  const auto step = std::lower_bound(steps.begin(), steps.end(), half_width);
  return step == steps.end() ? std::nullopt : std::optional(*step);
}

}  // namespace ccl_tests
