#include "src/report/normal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/report/quantity_text.hpp"

namespace ccl_tests {
namespace {

std::string formula(const Segment& segment) {
  const std::string alpha = seconds_text(segment.alpha.value);
  if (segment.beta.value <= 0) return alpha;
  const std::string bytes = fmt::format("size / {:.3g} GB/s", 1e-9 / segment.beta.value);
  return segment.alpha.value > 0 ? fmt::format("{} + {}", alpha, bytes) : bytes;
}

std::string percent(double error) {
  return fmt::format("{:.0f} %", std::max(1.0, std::ceil(100 * error)));
}

// "88 us + size / 1.94 GB/s", or one formula for each segment of sizes.
std::string formulas(const Fit& fit) {
  std::string text;
  for (const Segment& segment : fit.segments) {
    const bool last = &segment == &fit.segments.back();
    text += text.empty() ? "" : last ? ", then " : ", ";
    text += formula(segment);
    if (!last) text += " to " + binary_size_text(segment.last_bytes);
  }
  return text;
}

std::string words(const SweepFit& sweep) {
  std::string text{name(sweep.type)};
  if (sweep.op) text += fmt::format(" {}", name(*sweep.op));
  if (sweep.root) text += fmt::format(" root {}", *sweep.root);
  return text + (sweep.placement == "in_place" ? " in place" : " out of place");
}

// The row that is farthest above its fit.
std::string worst(const std::vector<SweepFit>& sweeps) {
  const SweepFit* of = nullptr;
  const StandOut* worst = nullptr;
  std::size_t above = 0;
  for (const SweepFit& sweep : sweeps) {
    if (!sweep.result.fit) continue;
    for (const StandOut& time : sweep.result.fit->above) {
      ++above;
      if (worst != nullptr && time.ratio <= worst->ratio) continue;
      worst = &time;
      of = &sweep;
    }
  }
  if (worst == nullptr) return {};
  const Fit& fit = *of->result.fit;
  std::string text = fmt::format("no - {} {} is {:.2g} times slower than the fit ({})",
                                 binary_size_text(worst->bytes), words(*of), worst->ratio,
                                 formula(fit.segments[fit.segment_of(worst->bytes)]));
  if (above > 1)
    text += fmt::format("; {} more {}", above - 1, above == 2 ? "stands out" : "stand out");
  return text + ": algorithm switch?";
}

// What a fit of every sweep says.
std::string best(const std::vector<const SweepFit*>& fitted, bool alone) {
  const SweepFit& first = *fitted.front();
  std::string text =
      fmt::format("no size stands out - time = {} fits every row within {}",
                  formulas(*first.result.fit), percent(first.result.fit->largest_error));
  if (!alone) text += fmt::format(" ({})", words(first));
  if (fitted.size() == 1) return text;
  double error = 0;
  for (std::size_t k = 1; k < fitted.size(); ++k)
    error = std::max(error, fitted[k]->result.fit->largest_error);
  return text + (fitted.size() == 2
                     ? fmt::format("; {} within {}", words(*fitted[1]), percent(error))
                     : fmt::format("; {} more fits within {}", fitted.size() - 1, percent(error)));
}

}  // namespace

std::string normal_text(const RunSummary& summary) {
  if (summary.fits.empty()) return {};
  constexpr const char* unjudged = "cannot be judged from these times";
  if (summary.verdict == Verdict::unreliable) return unjudged;
  std::vector<const SweepFit*> fitted;
  std::size_t left_out = 0;
  for (const SweepFit& sweep : summary.fits) {
    if (sweep.result.fit) fitted.push_back(&sweep);
    left_out += sweep.left_out;
  }
  std::string text = worst(summary.fits);
  if (fitted.empty())
    text = fmt::format("{} - {}", unjudged, summary.fits.front().result.refusal);
  else if (text.empty())
    text = best(fitted, summary.fits.size() == 1);
  if (const std::size_t without = summary.fits.size() - fitted.size();
      without > 0 && without < summary.fits.size())
    text += fmt::format("; no fit for {} of {} sweeps", without, summary.fits.size());
  if (left_out > 0)
    text += fmt::format("; without {} {} too wide an interval", left_out,
                        left_out == 1 ? "time that has" : "times that have");
  return text;
}

}  // namespace ccl_tests
